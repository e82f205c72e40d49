import type { RequestListener, ServerResponse } from 'node:http';

/**
 * The last phase of a host before its listener closes (rules 2.9): it answers all requests, and closes each connection
 * after the answer, so that its client opens the next one to another process.
 */
export class Draining {
  private begun = false;
  private readonly open = new Set<ServerResponse>();

  get hasBegun(): boolean {
    return this.begun;
  }

  /** Also for requests under way, unless their answer has begun. Repeat-safe. */
  begin(): void {
    this.begun = true;
    for (const response of this.open) closeAfter(response);
  }

  /** The same handler; it marks the answers to close their connections once draining has begun. */
  watch(handle: RequestListener): RequestListener {
    return (request, response) => {
      this.open.add(response);
      response.once('close', () => this.open.delete(response));
      if (this.begun) closeAfter(response);
      handle(request, response);
    };
  }
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
