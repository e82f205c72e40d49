import { chmodSync, lstatSync, mkdtempSync, readdirSync, readlinkSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';
import { removeData } from './launch';
import { RunningProcesses, identify } from './programs/running-processes';
import { takeLock } from './tools/lock';

/** A file system in memory, on Linux. */
const IN_MEMORY = '/dev/shm';
/** The servers of a whole run of the tests write about 2 GiB. */
const ROOM = 4 * 1024 ** 3;

/** Process ids are those of one PID namespace: containers with a common folder have several. */
const NAMESPACE = pidNamespace();

/** How the name of a folder begins that a process makes. */
export const ownPrefix = (name: string, pid = process.pid) => `payments-own-${name}-${NAMESPACE}-${pid}-`;

const OWN = new RegExp(`^payments-own-.+-${NAMESPACE}-(\\d+)-\\w{6}$`);

/**
 * A new folder for the data of servers that this process starts for itself; PostgreSQL under root may pass it. With
 * `in_memory` it is in memory where there is room for all: then nobody waits for a disk, and thousands of files are
 * removed at once.
 */
export function makeOwnFolder(name: string, { in_memory = false } = {}): string {
  const parent = in_memory && hasRoomInMemory() ? IN_MEMORY : tmpdir();
  const folder = mkdtempSync(path.join(parent, ownPrefix(name)));
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

/** Ends the servers, and removes the folders, of processes that were killed before they did. */
export async function removeAbandonedFolders(): Promise<void> {
  for (const parent of [IN_MEMORY, tmpdir()]) {
    for (const name of namesIn(parent)) {
      const maker = OWN.exec(name)?.[1];
      if (maker !== undefined && identify(Number(maker)) === undefined) await removeAbandoned(path.join(parent, name));
    }
  }
}

async function removeAbandoned(folder: string): Promise<void> {
  try {
    const found = lstatSync(folder);
    // Another user may have left a link there.
    if (!found.isDirectory() || found.uid !== process.getuid?.()) return;
    // Its supervisor may still be stopping the servers, or another process removes the folder.
    if ('held_by' in takeLock(path.join(folder, 'lock'))) return;
    await new RunningProcesses(folder).killLeftovers();
    removeData(folder);
  } catch {
    // It is gone in the meantime.
  }
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
