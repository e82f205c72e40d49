import { connectDatabase, withDatabase } from '../../src/db/connection';
import { queryRows } from '../../src/db/query';
import { readVariables } from '../../src/stack/launch';
import type { WiredStack } from '../support/wire';

/** Statements whose answer is cut, to see that the fault is what it says. */
const PROBES = 3;

/**
 * Sends statements of our own through the proxy of the worker while it cuts answers. Returns how this fault is not what
 * it should be: each statement must be committed, and its sender must not learn it.
 */
export async function answersAreCut(wired: WiredStack): Promise<string[]> {
  const proxy = await wired.proxy('worker', 'postgres');
  const { POSTGRES_URL = '' } = readVariables(wired.own.data_dir);
  const url = new URL(POSTGRES_URL);
  url.host = proxy.listen;
  const wrong: string[] = [];
  return await withDatabase(POSTGRES_URL, async (direct) => {
    for (let n = 1; n <= PROBES; n += 1) {
      const cut = connectDatabase(url.href, { pool_max: 1, quiet: true });
      await queryRows(cut, 'select 1');
      const attributes = { bytes: 1 };
      const toxic = await proxy.addToxic({
        name: 'probe',
        type: 'limit_data',
        stream: 'downstream',
        toxicity: 1,
        attributes,
      });
      const name = `faults-probe-${n}`;
      const insert = `insert into leases (name, holder, expires_at) values (:name, 'faults', now()) returning name`;
      const isAnswered = await queryRows(cut, insert, { name }).then(
        () => true,
        () => false,
      );
      await toxic.remove();
      await cut.destroy();
      const rows = await queryRows(direct, 'delete from leases where name = :name returning name', { name });
      if (isAnswered) wrong.push('a statement was answered whose answer was to be cut');
      if (rows.length !== 1) wrong.push('a statement whose answer was cut was not committed');
    }
    return wrong;
  });
}
