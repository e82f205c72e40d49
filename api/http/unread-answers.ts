import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Limits the memory for clients that do not read their answers (rules 18.9). */

/** Bytes of all answers that wait for their clients. */
const UNREAD_MAX = 64 * 1_024 * 1_024;

/** Requests of one connection that wait for the answer to the one before. */
export const PIPELINED_MAX = 100;

/**
 * Handles the requests of a connection one after another, each when the answer before was taken: a client that sends
 * many at once and reads nothing would have all their answers held. What has not begun when it leaves, or when the
 * last answer of the connection was sent (RFC 9112, 9.6), is dropped: Node never sends its answer, and never closes it.
 * A connection with more than PIPELINED_MAX that wait is closed: Node reads on while no answer is written.
 */
export function inOrder(handle: RequestListener): RequestListener {
  const connections = new WeakMap<Duplex, { last: ServerResponse; waiting: number }>();
  return (request, response) => {
    const { socket } = request;
    // Node ends the socket before the last answer emits 'close', and destroys it later.
    const handleUnlessEnded = () => {
      if (socket.writable) handle(request, response);
    };
    const connection = connections.get(socket);
    if (connection === undefined || connection.last.closed) {
      connections.set(socket, { last: response, waiting: 0 });
      return handleUnlessEnded();
    }
    const before = connection.last;
    connection.last = response;
    connection.waiting += 1;
    if (connection.waiting > PIPELINED_MAX) return void socket.destroy();
    before.once('close', () => {
      connection.waiting -= 1;
      handleUnlessEnded();
    });
  };
}

/**
 * Closes connections while the answers that wait for their clients have more than the bytes together: first those whose
 * clients have taken nothing for the longest time.
 */
export function boundUnread(server: Server, check_ms: number, bytes_max = UNREAD_MAX): void {
  /** Of the connections with something to take: how much, and since when it is so. */
  const unread = new Map<Socket, { bytes: number; taken: number; since: number }>();
  const sockets = new Set<Socket>();
  const add = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      unread.delete(socket);
    });
  };
  server.on('connection', add);
  server.on('secureConnection', add);
  const timer = setInterval(() => {
    let sum = 0;
    for (const socket of sockets) {
      const { writableLength: bytes } = socket;
      sum += bytes;
      if (bytes === 0) unread.delete(socket);
      else {
        const taken = socket.bytesWritten - bytes;
        const before = unread.get(socket);
        unread.set(socket, { bytes, taken, since: before?.taken === taken ? before.since : performance.now() });
      }
    }
    if (sum <= bytes_max) return;
    for (const [socket, { bytes }] of [...unread].toSorted(([, a], [, b]) => a.since - b.since)) {
      socket.destroy();
      sum -= bytes;
      if (sum <= bytes_max) return;
    }
  }, check_ms);
  server.once('close', () => clearInterval(timer));
}
