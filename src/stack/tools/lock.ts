import { randomUUID } from 'node:crypto';
import { linkSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFileIfExists } from '../files';
import { identify, isAlive, type Identity } from '../programs/running-processes';

/** A lock that this process has. */
export interface Lock {
  /** Releases the lock; a second call does nothing. */
  release(): void;
}

/** The process that has the lock. */
export interface Held {
  held_by: number;
}

/** Longer than the few file operations done while a dead process's lock is taken over. */
const TAKE_OVER_MS = 10_000;

/**
 * Takes the lock, or returns the live process that has it. The lock of a killed process is taken over. Works between
 * processes of one machine; within one process the second call finds it held too.
 */
export function takeLock(file: string): Lock | Held {
  const self = identify(process.pid);
  if (self === undefined) throw new Error('this process cannot be identified');
  const draft = `${file}.${randomUUID()}`;
  // Linked into place when its text is complete, so that no process reads a lock without an owner.
  writeFileSync(draft, JSON.stringify(self));
  try {
    for (;;) {
      if (linked(draft, file)) return { release: once(() => rmSync(file, { force: true })) };
      const owner = ownerOf(file);
      if (owner !== undefined && isAlive(owner)) return { held_by: owner.pid };
      removeStale(file);
    }
  } finally {
    unlinkSync(draft);
  }
}

/** Takes the lock, waiting as long as it is held; `onWait` is called once with its holder. */
export async function waitForLock(file: string, onWait: (held: Held) => void, signal?: AbortSignal): Promise<Lock> {
  for (let waited = false; ; waited = true) {
    const lock = takeLock(file);
    if ('release' in lock) return lock;
    if (!waited) onWait(lock);
    await sleep(200, undefined, signal ? { signal } : {});
  }
}

/**
 * Only one process at a time removes a dead one's lock, and it checks again first: otherwise the slower of two would
 * remove the lock that the faster one has just taken.
 */
function removeStale(file: string): void {
  const broom = `${file}.broom`;
  try {
    writeFileSync(broom, '', { flag: 'wx' });
  } catch {
    if (ageMs(broom) > TAKE_OVER_MS) rmSync(broom, { force: true });
    return;
  }
  try {
    const owner = ownerOf(file);
    if (owner === undefined || !isAlive(owner)) rmSync(file, { force: true });
  } finally {
    rmSync(broom, { force: true });
  }
}

function linked(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function ownerOf(file: string): Identity | undefined {
  try {
    const text = readFileIfExists(file);
    return text === undefined ? undefined : (JSON.parse(text) as Identity);
  } catch {
    return undefined;
  }
}

function ageMs(file: string): number {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}
