import type { Database } from '../db/query';
import { KeptLease, type RequireLease } from '../db/lease';
import { ServiceError } from '../errors';

/**
 * Does work that one command at a time does. `name` of the lease; `another` names such work at the beginning of a
 * sentence. Throws Conflict while another command does it; so does `requireLease` once another one may have begun.
 */
export async function alone<T>(
  db: Database,
  { name, another }: { name: string; another: string },
  work: (requireLease: RequireLease) => Promise<T>,
): Promise<T> {
  const lease = new KeptLease(db, { name, lasts_ms: 60_000, every_ms: 15_000 });
  lease.start();
  try {
    await lease.databaseTime();
    const { holder } = lease;
    if (holder === undefined) {
      throw new ServiceError('Conflict', `${another} runs, or was stopped less than a minute ago.`);
    }
    return await work(async () => {
      if (await lease.isStillOf(holder)) return;
      throw new ServiceError('Conflict', `${another} has begun meanwhile. Run the command again.`);
    });
  } finally {
    await lease.stop();
  }
}
