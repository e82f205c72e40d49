import { existsSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { privateFolder } from '../files';
import type { Progress } from '../progress';
import { keepRunning, type Kept, type Program } from './program';
import { RunningProcesses, inStopOrder } from './running-processes';

/** A log larger than this is put aside at the next start. */
const LOG_BYTES = 20 * 1024 * 1024;

/** Keeps the stack's programs running, knows their pids, and stops them in order. */
export class Supervisor {
  private readonly kept: Kept[] = [];
  private readonly running: RunningProcesses;
  private clearing: Promise<void> | undefined;
  private stopping = false;
  /** By name, the supervisor first; follows every restart. */
  readonly pids: Record<string, number> = { start: process.pid };

  constructor(
    private readonly data_dir: string,
    private readonly progress: Progress,
    /** Called when a pid has changed. */
    private readonly onChange: () => void,
  ) {
    this.running = new RunningProcesses(data_dir);
  }

  /** Ends the processes that a killed supervisor of this folder left running. */
  async clearUp(): Promise<void> {
    this.clearing = this.running.stopLeftovers((names) =>
      this.progress.say('payments', `an earlier run was killed; stopping what it left: ${names.join(', ')}`),
    );
    await this.clearing;
  }

  /** The file for a program's output; a long file of earlier runs is renamed. */
  logFile(name: string): string {
    const folder = privateFolder(path.join(this.data_dir, 'logs'));
    const file = path.join(folder, `${name}.log`);
    if (existsSync(file) && statSync(file).size > LOG_BYTES) renameSync(file, `${file}.1`);
    return file;
  }

  /** Starts the program and returns when it does its work. Throws a StackFailure when it cannot. */
  async keep(program: Program, title: string): Promise<void> {
    if (this.stopping) throw new Error(`${program.name} is not started: the stack stops`);
    const kept = keepRunning(program, {
      started: (pid) => {
        this.pids[program.name] = pid;
        this.tolerate(() => this.running.record(program.name, pid));
        this.tolerate(this.onChange);
      },
      ended: (how, line) =>
        this.progress.say(title, `ended (${how})${line === undefined ? '' : `: ${line}`}; it is started again`),
    });
    this.kept.push(kept);
    await this.progress.step(title, 'starting', () => kept.ready);
  }

  /** Stops the programs in the order of a stop, and waits for a clear-up that is under way. */
  async stop(): Promise<void> {
    this.stopping = true;
    const is_cleared = await this.clearing?.then(
      () => true,
      () => false,
    );
    for (const group of inStopOrder(this.kept.map((kept) => kept.name))) {
      await Promise.all(this.kept.filter((kept) => group.includes(kept.name)).map((kept) => kept.stop()));
    }
    // Without a clear-up the file still lists what a killed run has left, for the next start to end.
    if (is_cleared === true) this.running.clear();
  }

  /** A full disk must not end the supervisor while it restarts a process. */
  private tolerate(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.progress.say('payments', `cannot write below ${this.data_dir}: ${(error as Error).message}`);
    }
  }
}
