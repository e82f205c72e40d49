import { indexDifferences } from '../../proofs/invariants/index-equals-record';
import { ledgerDifferences } from '../../proofs/invariants/ledger';
import { DATA_DIR_OF_RUN, stackIn } from './stack';

/** The exit status of such a run, also when tests failed in it: `.ci/totals.mjs` knows it. */
const RECORD_DIFFERS = 3;

/**
 * Stops what global-setup has started and removes its data; before that the record of the run must equal the
 * processor's ledger and the search index, whatever the tests did. A difference fails the run, though every test has
 * passed.
 */
export default async function globalTeardown(): Promise<void> {
  const data_dir = process.env[DATA_DIR_OF_RUN];
  try {
    if (data_dir === undefined) return;
    const place = stackIn(data_dir);
    const differences = [...(await ledgerDifferences(place)), ...(await indexDifferences(place))];
    if (differences.length > 0) {
      fail(
        `The record differs from the processor's ledger or the search index:\n${differences.slice(0, 20).join('\n')}\n(${differences.length} in all)`,
      );
    }
  } catch (error) {
    fail(`The record could not be compared with the processor's ledger and the search index: ${String(error)}`);
  } finally {
    await (globalThis as { discardTestStack?: () => Promise<void> }).discardTestStack?.();
  }
}

/** Not by throwing: jest would write no report then, and what the tests said would be lost. */
function fail(why: string): void {
  process.stderr.write(`\n${why}\n`);
  process.exitCode = RECORD_DIFFERS;
}
