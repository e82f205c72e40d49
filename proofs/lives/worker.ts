import { Worker } from '@temporalio/worker';

/**
 * The worker of the product with a cache of one workflow for each task queue: it makes nearly every task by replaying
 * the whole history.
 */
const create = Worker.create.bind(Worker);
Worker.create = (options) => create({ ...options, maxCachedWorkflows: 1 });

void import(require.resolve('../../src/main/worker'));
