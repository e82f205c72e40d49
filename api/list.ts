import type { Project } from '../src/db/projects';
import { oneAtATime } from '../src/domain/one-at-a-time';
import { listPeriod, type Period } from '../src/domain/period';
import { validationError } from '../src/errors';
import { clock } from './clock';
import type { MerchantContext } from './merchant';
import { jsonArray, type Stream } from './operation';

/** Most objects in one list (rules 5.8). */
export const LIST_MAX = 10_000;
/** Objects that use up as much of the rate limit as one request (rules 18.1). */
const OBJECTS_PER_TOKEN = 100;
/** Objects that are read at a time: so few that the process does nothing else for some milliseconds only. */
const PAGE = { first: 50, most: 200, bytes: 512 * 1024 };

/** A page of a list, newest first: the first `limit`, or those that follow `after`, the last one of the page before. */
interface Page<View> extends Period {
  after: View | undefined;
  limit: number;
}

type List = (
  context: MerchantContext,
  input: { query: { created_since?: string | undefined; created_until?: string | undefined } },
) => Promise<Stream>;

/**
 * Lists what a project created in a period, newest first, read in pages while it is sent (rules 5.8). `present` makes
 * what is sent of each. Throws a ValidationError that names the parameter.
 */
export function listOf<View>(
  read: (project_id: Project['id'], page: Page<View>) => Promise<View[]>,
  present: (view: View) => unknown,
): List {
  // Pages of all lists are read one after another: together they hold one connection, and the process in between is
  // free for others.
  const inTurn = oneAtATime();
  return (context, { query }) => {
    const period = listPeriod({ ...query, now: clock.now() });
    if ('problem' in period) throw validationError(period.parameter, period.problem);
    const { id } = context.caller.project;
    const readPage = (after: View | undefined, limit: number) => inTurn(() => read(id, { ...period, after, limit }));
    return Promise.resolve(jsonArray(pagesOf(readPage, present, context)));
  };
}

/** The objects as JSON, a page at a time. */
async function* pagesOf<View>(
  read: (after: View | undefined, limit: number) => Promise<View[]>,
  present: (view: View) => unknown,
  { spend }: Pick<MerchantContext, 'spend'>,
): AsyncGenerator<string[]> {
  let listed = 0;
  let size = PAGE.first;
  let after: View | undefined;
  while (listed < LIST_MAX) {
    const limit = Math.min(size, LIST_MAX - listed);
    const views = await read(after, limit);
    const tokens = tokensOf(listed + views.length) - tokensOf(listed);
    if (tokens > 0) await spend(tokens);
    const page = views.map((view) => JSON.stringify(present(view)));
    yield page;
    if (views.length < limit) return;
    listed += views.length;
    after = views.at(-1);
    const bytes = page.reduce((sum, { length }) => sum + length, 0) / page.length;
    size = Math.max(1, Math.min(PAGE.most, Math.floor(PAGE.bytes / bytes)));
  }
}

const tokensOf = (objects: number) => Math.floor(objects / OBJECTS_PER_TOKEN);
