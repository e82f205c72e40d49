import { Server, type IncomingMessage } from 'node:http';
import { numberSharedCalls } from './calls';
import { FLOW_HEADER } from './messages';
import { CrashPoints } from './points';

/** Numbers the calls of an api: those of a request whose header names a flow, and of a notification about one. */
const points = new CrashPoints('api', process.env['DATA_DIR'] ?? '');
numberSharedCalls(points);

const prototype = Server.prototype as unknown as { emit: (event: string, ...args: unknown[]) => boolean };
const { emit } = prototype;
prototype.emit = function (this: unknown, event, ...args) {
  if (event !== 'request') return emit.apply(this, [event, ...args]);
  const request = args[0] as IncomingMessage & { body?: unknown };
  const named = request.headers[FLOW_HEADER];
  const text = () => {
    if (named !== undefined) return `${String(named)} ${request.url}`;
    // A notification of the processor, once its body is read.
    return request.url?.startsWith('/processor/') && request.body instanceof Buffer ? request.body.toString() : '';
  };
  return points.work.run({ text }, () => emit.apply(this, [event, ...args]));
};
