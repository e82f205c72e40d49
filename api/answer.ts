import type { Response } from 'express';

/**
 * Answers with JSON. Not res.json, which appends a charset to the type: clients compare it exactly (DECISIONS, HTTP
 * surface 2). Nothing of the API may be kept by caches or shown in frames.
 */
export function answer(response: Response, status: number, body: unknown): void {
  const content = Buffer.from(JSON.stringify(body));
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Length', content.length);
  protect(response);
  response.end(content);
}

/** Tells a client that it has the present version already. */
export function notModified(response: Response): void {
  response.statusCode = 304;
  protect(response);
  response.end();
}

function protect(response: Response): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
}
