import { statfs } from 'node:fs/promises';
import { diskFull } from './failure';
import { shown } from './files';

const MB = 1024 * 1024;
/** Less than this and the first start of the three servers does not fit. */
const LEAST_BYTES = 250 * MB;

/** Throws a StackFailure when the folder's disk is full or nearly so: servers that run out of room fail in odd ways. */
export async function checkRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free < LEAST_BYTES) {
    throw diskFull(shown(folder), `${Math.floor(free / MB)} MB are free; the servers need ${LEAST_BYTES / MB}`);
  }
}
