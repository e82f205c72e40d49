import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';

/** A file system in memory, on Linux. */
const IN_MEMORY = '/dev/shm';
/** The servers of a whole run write about 2 GiB. */
const ROOM = 4 * 1024 ** 3;

/**
 * A new folder for the data of servers, which PostgreSQL under root may pass. In memory where there is room for all:
 * then nobody waits for a disk, and thousands of files are removed at once.
 */
export function serverFolder(name: string): string {
  const folder = mkdtempSync(path.join(hasRoomInMemory() ? IN_MEMORY : tmpdir(), `payments-${name}-`));
  chmodSync(folder, 0o711);
  return folder;
}

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize > ROOM && freemem() > 2 * ROOM;
  } catch {
    return false;
  }
}
