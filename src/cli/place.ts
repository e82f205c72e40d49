import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { HttpError, getProject, ok, project } from '../client';

/** Where the service is, and the API key of the project. */
export interface Place {
  url: string;
  api_key: string;
}

type Options = ReturnType<typeof project>;

/** The end of a command that cannot go on; its message is for the user. */
export class CommandError extends Error {}

/**
 * The service and the key of `PAYMENTS_API_URL` and `PAYMENTS_API_KEY`, otherwise of the stack that `npm start` runs in
 * this folder. Throws CommandError without one.
 */
export function findPlace(env: NodeJS.ProcessEnv, folder: string): Place {
  const facts = readFacts(path.resolve(folder, env['DATA_DIR'] || '.data', 'stack.json'));
  const url = env['PAYMENTS_API_URL'] || facts.api_url;
  const api_key = env['PAYMENTS_API_KEY'] || (url === facts.api_url ? facts.test_api_key : undefined);
  if (url === undefined) throw new CommandError('Set PAYMENTS_API_URL to the address of the service, without /v1.');
  if (api_key === undefined) throw new CommandError('Set PAYMENTS_API_KEY to the API key of a test project.');
  return { url: url.replace(/\/+$/, ''), api_key };
}

function readFacts(file: string): { api_url?: string; test_api_key?: string } {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { api_url?: string; test_api_key?: string };
  } catch {
    return {};
  }
}

/** The project of the key. Throws CommandError for a live project, and for a key or an address that does not work. */
export async function requireTestProject(place: Place) {
  const found = await call(place, (options) => ok(getProject(options)));
  if (!found.is_test) throw new CommandError('The API key is of a live project; use one of a test project.');
  return found;
}

/** Calls the service. Throws CommandError with the reason when it refuses or cannot be reached. */
export async function call<T>(place: Place, send: (options: Options) => Promise<T>): Promise<T> {
  try {
    return await send(project(place));
  } catch (error) {
    throw new CommandError(failureInWords(place, error), { cause: error });
  }
}

/** Whether the same call may be answered later: the service is away, busy or restarting. */
export const mayAnswerLater = (error: unknown) =>
  !(error instanceof HttpError) || error.status >= 500 || error.status === 429;

/** Why a call failed, in words. */
export function failureInWords({ url }: Place, error: unknown): string {
  if (!(error instanceof HttpError)) return `${url} cannot be reached.`;
  const { error: refusal } = (error.data ?? {}) as { error?: { type?: string; value?: string } };
  return `${url} answered ${error.status} ${refusal?.type ?? ''}: ${refusal?.value ?? ''}`;
}

/**
 * The secret that `payments listen` signs with: derived from the API key, so that it stays the same from one start to
 * the next, and the service does not have to show the secret of the project.
 */
export function listenSecret({ api_key }: Pick<Place, 'api_key'>): string {
  return `whsec_${createHmac('sha256', api_key).update('payments listen').digest('base64')}`;
}

/** The file that keeps how far the webhooks of a project were sent to a local address. */
export function cursorFile(env: NodeJS.ProcessEnv, { url, project_id, forward_to }: Record<string, string>): string {
  const folder = env['XDG_STATE_HOME'] || path.join(homedir(), '.local', 'state');
  const name = createHash('sha256').update(`${url} ${project_id} ${forward_to}`).digest('hex').slice(0, 16);
  return path.join(folder, 'payments', `listen-${name}`);
}
