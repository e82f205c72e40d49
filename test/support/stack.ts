import type { StackFacts } from '../../src/stack/facts';
import { readFacts, readVariables } from '../../src/stack/launch';

export { discardStack, launchStack, readFacts, type LaunchedStack } from '../../src/stack/launch';

export interface RunningStack extends StackFacts {
  data_dir: string;
  /** What the service shows the simulator. */
  processor_key: string;
  /** What reads the payloads of its workflows. */
  payload_keys: string;
  /** What its API keys and signing keys are protected with. */
  secret_keys: string;
  /** The master key of its search server. */
  meilisearch_key: string;
}

/** The stack that global-setup has started for the whole run: its addresses, keys and pids, and its folder. */
export function stack(): RunningStack {
  const data_dir = process.env[DATA_DIR_OF_RUN];
  if (data_dir === undefined) throw new Error('no stack runs: tests start through jest, whose global-setup starts it');
  return stackIn(data_dir);
}

/** The stack that runs on this folder. */
export function stackIn(data_dir: string): RunningStack {
  const variables = readVariables(data_dir);
  return {
    ...readFacts(data_dir),
    data_dir,
    processor_key: variables['PROCESSOR_KEY'] ?? '',
    payload_keys: variables['PAYLOAD_KEYS'] ?? '',
    secret_keys: variables['SECRET_KEYS'] ?? '',
    meilisearch_key: variables['MEILISEARCH_KEY'] ?? '',
  };
}

/** Where global-setup leaves the folder's path for the tests. */
export const DATA_DIR_OF_RUN = 'PAYMENTS_TEST_DATA_DIR';
