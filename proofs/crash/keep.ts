import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { STOP_LIMITS_MS } from '../../src/config';
import { stopWithParent } from '../../src/processes/process';

/**
 * Runs a process of the stack and starts it again at once whenever it ends. The supervisor of the stack waits longer
 * after each early end, up to ten seconds, which would take most of the proof's time.
 */
export function keepAlive(entry: string): void {
  let child: ChildProcess;
  let stopping = false;
  const start = () => {
    child = fork(entry, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    // It is ready: the supervisor of the stack waits for that.
    child.on('message', (message: object) => process.send?.(message));
    child.once('exit', () => {
      if (!stopping) setTimeout(start, PAUSE_MS);
    });
  };
  start();
  stopWithParent(async () => {
    stopping = true;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }, STOP_LIMITS_MS.supervisor);
}

/** A process that cannot start does not take the whole machine. */
const PAUSE_MS = 50;
