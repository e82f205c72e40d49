import type { Database } from '../../src/db/query';
import type { ListPart, Part, PartLimits, PagePosition } from '../../src/db/pages';
import { listPeriod } from '../../src/domain/period';
import { validationError } from '../../src/errors';
import { partLimits } from './bulk-reads';
import type { MerchantContext, MerchantServices } from '../merchant';
import { jsonArray, type Stream } from '../operation';

/** Maximum number of objects in one list (rules 5.8). */
export const LIST_MAX = 10_000;
/** Number of objects that costs one token of the rate limit (rules 18.1). */
const OBJECTS_PER_TOKEN = 100;

type List = (
  context: MerchantContext,
  input: { query: { created_since?: string | undefined; created_until?: string | undefined } },
) => Promise<Stream>;

/**
 * Lists the objects that a project created in a period, newest first, reading them in parts while sending (rules 5.8,
 * 5.11). `present` converts each for the answer. Throws a ValidationError that names the parameter.
 */
export function listOperation<Stored>(
  { bulk }: Pick<MerchantServices, 'bulk'>,
  readPart: (db: Database, project_id: string, part: ListPart) => Promise<Part<Stored>>,
  present: (view: Stored) => unknown,
): List {
  return (context, { query }) => {
    const period = listPeriod({ ...query, now: Date.now() });
    if ('problem' in period) throw validationError(period.parameter, period.problem);
    const { id } = context.caller.project;
    const pieces = (signal: AbortSignal) => {
      const read = (limits: PartLimits, after: PagePosition | undefined) =>
        bulk.read(id, (db) => readPart(db, id, { period, limits, after }), signal);
      return partsOf(read, present, context);
    };
    return Promise.resolve(jsonArray(pieces, bulk.stream(id)));
  };
}

/** The objects as JSON, a part at a time. */
async function* partsOf<Stored>(
  read: (limits: PartLimits, after: PagePosition | undefined) => Promise<Part<Stored>>,
  present: (view: Stored) => unknown,
  { spend }: Pick<MerchantContext, 'spend'>,
): AsyncGenerator<string[]> {
  let listed = 0;
  let after: PagePosition | undefined;
  let limits = partLimits();
  while (listed < LIST_MAX) {
    const asked = Math.min(limits.rows, LIST_MAX - listed);
    const { rows, is_last, end } = await read({ ...limits, rows: asked }, after);
    const tokens = tokensOf(listed + rows.length) - tokensOf(listed);
    if (tokens > 0) await spend(tokens);
    yield rows.map((view) => JSON.stringify(present(view)));
    if (is_last) return;
    listed += rows.length;
    after = end;
    limits = partLimits({ asked, came: rows.length });
  }
}

const tokensOf = (objects: number) => Math.floor(objects / OBJECTS_PER_TOKEN);
