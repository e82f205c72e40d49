import { statfs } from 'node:fs/promises';
import { StackFailure } from './failure';
import { shown } from './files';

/** Less than this and the first start of the three servers does not fit. */
const LEAST_BYTES = 250 * 1024 * 1024;

/** Throws a StackFailure when the folder's disk is full or nearly so: servers that run out of room fail in odd ways. */
export async function checkRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free < LEAST_BYTES) {
    throw new StackFailure(`The disk is full: ${Math.floor(free / 1024 / 1024)} MB are free below ${shown(folder)}; make room (at least 500 MB) and start again.`);
  }
}
