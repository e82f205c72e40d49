import { parseArgs } from 'node:util';
import { runStack } from '../processes/stack';

/**
 * `npm start`. `--api <file> --worker <file>`: runs other programs instead, such as the benchmark's, which add one route
 * and one workflow.
 */
const { values: instead } = parseArgs({ options: { api: { type: 'string' }, worker: { type: 'string' } } });
runStack(process.env, instead);
