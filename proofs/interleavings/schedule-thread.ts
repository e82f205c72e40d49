import './substitutes';
import { parentPort, workerData } from 'node:worker_threads';
import { trySchedules } from './schedules';

/** A thread of its own: what it puts in the place of other modules, and its clock, stay here. */
const { seed, count, path } = workerData as { seed: number; count: number; path: string | undefined };
trySchedules({ seed, count, path, say: (line) => parentPort!.postMessage({ line }) }).then(
  (outcome) => parentPort!.postMessage({ outcome }),
  (error: unknown) => {
    throw error;
  },
);
