import { setTimeout as sleep } from 'node:timers/promises';
import { Worker, type ActivityInterceptorsFactory } from '@temporalio/worker';
import './short-tasks';

/** Local activities that outlast their workflow tasks, and how long they wait at most. Milliseconds. */
const SHARE_OF_SLOW_ACTIVITIES = 0.05;
const SLOW_MS = 1_800;

const slowActivities: ActivityInterceptorsFactory = ({ info: { isLocal } }) => ({
  inbound: {
    async execute(input, next) {
      const result = await next(input);
      if (isLocal && Math.random() < SHARE_OF_SLOW_ACTIVITIES) await sleep(Math.random() * SLOW_MS);
      return result;
    },
  },
});

/**
 * The worker of the product with a cache of two workflows for each task queue: it makes nearly every task by replaying
 * the whole history.
 */
const create = Worker.create.bind(Worker);
Worker.create = ({ interceptors, ...options }) =>
  create({
    ...options,
    maxCachedWorkflows: 2,
    interceptors: { ...interceptors, activity: [slowActivities, ...(interceptors?.activity ?? [])] },
  });

void import(require.resolve('../../src/main/worker'));
