import type { Response } from 'express';

/**
 * Answers with JSON. Not with res.json, which appends a charset to the type: clients compare it exactly (rules 1.2).
 * No answer of the API may be cached or framed.
 */
export function answer(response: Response, status: number, body: unknown): void {
  const content = Buffer.from(JSON.stringify(body));
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Length', content.length);
  protect(response);
  response.end(content);
}

/** Answers 304: the client already has the present version. */
export function notModified(response: Response): void {
  response.statusCode = 304;
  protect(response);
  response.end();
}

function protect(response: Response): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
}
