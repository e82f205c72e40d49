import { parseArgs } from 'node:util';
import { runStack } from '../processes/stack';

/**
 * `npm start`. `--api`, `--manage`, `--worker` and `--codec <file>`: run other programs instead, such as the benchmark's,
 * which add one route and one workflow.
 */
const file = { type: 'string' } as const;
const { values: instead } = parseArgs({ options: { api: file, manage: file, worker: file, codec: file } });
runStack(process.env, instead);
