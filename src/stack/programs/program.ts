import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { STOP_LIMITS_MS } from '../../config';
import { StackFailure, tellingLine } from '../failure';
import { displayPath } from '../files';

/** A program that runs as long as the stack does. */
export interface Program {
  /** Its name in stack.json and in messages. */
  name: string;
  command: string;
  args: string[];
  /** The whole environment: nothing is inherited. */
  env: Record<string, string>;
  cwd: string;
  /** Another user to run as; only root can. */
  user?: { uid: number; gid: number } | undefined;
  /** Its output is appended here. */
  log_file: string;
  stop_signal: 'SIGTERM' | 'SIGINT';
  /** How far it gives way to the other programs when all have work: 0 not at all, 19 the most. */
  nice?: number;
  /**
   * Whether it is ready; checked repeatedly until it is. Without this check the program reports over IPC (`tellReady`).
   */
  isReady?: (pid: number) => Promise<boolean>;
  /** Output of a first start whose failure passes by itself. */
  passing?: RegExp;
}

/** A program that is kept running, across its restarts. */
export interface Kept {
  name: string;
  /** Resolves when it works for the first time; rejects with a StackFailure when it cannot. */
  ready: Promise<void>;
  /** Ends it for good: its stop signal, and after `STOP_LIMITS_MS.supervisor` SIGKILL. */
  stop(): Promise<void>;
}

/** Events of a program that is kept running. */
export interface KeepEvents {
  /** A new process of it has just been started. */
  started(pid: number): void;
  /** It ended without being asked to, and is started again. `line`: what it said of a failure. */
  ended(how: string, line?: string): void;
}

const READY_MS = 60_000;
const PASSING_MS = 20_000;
const BACKOFF_MS = { least: 100, most: 10_000 };
/** After running this long, a program restarts with the shortest pause again. */
const STABLE_AFTER_MS = 30_000;

/** Starts the program and starts it again whenever it ends, after 0.1 s, 0.2 s … at most 10 s, until it is stopped. */
export function keepRunning(program: Program, events: KeepEvents): Kept {
  let child: ChildProcess | undefined;
  let restart: NodeJS.Timeout | undefined;
  let stopping = false;
  let worked = false;
  let short_lives = 0;

  const start = (): Run => {
    const run = runOnce(program, { needs_log: !worked });
    child = run.child;
    const began = performance.now();
    if (run.child.pid !== undefined) events.started(run.child.pid);
    void run.ended.then((how) => {
      // startFirst handles exits until the first start succeeds; ignore replaced processes.
      if (stopping || !worked || child !== run.child) return;
      short_lives = performance.now() - began > STABLE_AFTER_MS ? 0 : short_lives + 1;
      events.ended(how, how.startsWith('code ') && how !== 'code 0' ? tellingLine(run.output()) : undefined);
      const pause = Math.min(BACKOFF_MS.least * 2 ** Math.max(short_lives - 1, 0), BACKOFF_MS.most);
      restart = setTimeout(start, pause);
    });
    return run;
  };

  const stopped = () => new StackFailure(`${program.name} was stopped while it started.`);
  const startFirst = async () => {
    const give_up = performance.now() + PASSING_MS;
    for (;;) {
      const run = start();
      const failure = await becomesReady(program, run);
      if (failure === undefined) break;
      if (stopping) throw stopped();
      if (!program.passing?.test(failure) || performance.now() > give_up) {
        throw new StackFailure(
          `${program.name} does not start: ${tellingLine(failure)} (more in ${displayPath(program.log_file)})`,
        );
      }
      await sleep(BACKOFF_MS.least * 5);
      if (stopping) throw stopped();
    }
    worked = true;
    // It may have ended right after its first answer; nothing else would start it again.
    if (!stopping && child !== undefined && hasExited(child)) start();
  };

  return {
    name: program.name,
    ready: startFirst(),
    async stop() {
      stopping = true;
      clearTimeout(restart);
      if (child === undefined || hasExited(child)) return;
      const ended = new Promise((done) => child?.once('exit', done));
      child.kill(program.stop_signal);
      const killer = setTimeout(() => child?.kill('SIGKILL'), STOP_LIMITS_MS.supervisor);
      await ended;
      clearTimeout(killer);
    },
  };
}

interface Run {
  child: ChildProcess;
  /** Resolves with how it ended, for example `signal SIGKILL`. */
  ended: Promise<string>;
  /** Resolves when it reports over IPC that it is ready. */
  told: Promise<void>;
  /** What it wrote to its log last. */
  output(): string;
}

function runOnce(program: Program, { needs_log }: { needs_log: boolean }): Run {
  const log = openLog(program.log_file, needs_log);
  const from = log === 'ignore' ? 0 : fstatSync(log).size;
  const child = spawn(program.command, program.args, {
    cwd: program.cwd,
    env: program.env,
    // A group of its own: Ctrl-C in the terminal reaches only the supervisor, which stops everything in order. Output
    // goes to a file, not a pipe: a server must survive a killed supervisor without blocking on its output.
    detached: true,
    stdio: program.isReady ? ['ignore', log, log] : ['ignore', log, log, 'ipc'],
    ...program.user,
  });
  if (log !== 'ignore') closeSync(log);
  if (program.nice !== undefined && child.pid !== undefined) giveWay(child.pid, program.nice);
  const ended = new Promise<string>((done) => {
    child.once('exit', (code, signal) => done(signal === null ? `code ${code}` : `signal ${signal}`));
    child.once('error', (error) => done(error.message));
  });
  const told = new Promise<void>((done) => {
    child.on('message', (message: { ready?: boolean } | null) => {
      if (message?.ready === true) done();
    });
  });
  return { child, ended, told, output: () => readFrom(program.log_file, from) };
}

/** A log that cannot be opened does not keep a program from being started again: its output is ignored then. */
function openLog(file: string, is_needed: boolean): number | 'ignore' {
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    return openSync(file, 'a', 0o600);
  } catch (error) {
    if (is_needed) throw error;
    return 'ignore';
  }
}

function giveWay(pid: number, nice: number): void {
  try {
    setPriority(pid, nice);
    // Each program is the leader of a session: where Linux groups by session, it compares the groups' values.
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // It ended at once, or this is another system: all works without.
  }
}

/** `undefined` if it is ready, otherwise its output until it ended or the time was up. */
async function becomesReady(program: Program, run: Run): Promise<string | undefined> {
  const over = new AbortController();
  const ended = run.ended.then((how) => `${run.output()}\n${how === 'code 0' ? '' : `ended with ${how}`}`);
  const late = sleep(READY_MS, undefined, { signal: over.signal }).then(
    () => `${run.output()}\nnot ready after ${READY_MS / 1000} s`,
    () => undefined,
  );
  const ready = program.isReady
    ? answers(program.isReady, run.child.pid ?? 0, over.signal)
    : run.told.then(() => undefined);
  try {
    return await Promise.race([ready, ended, late]);
  } finally {
    over.abort();
  }
}

async function answers(
  isReady: (pid: number) => Promise<boolean>,
  pid: number,
  signal: AbortSignal,
): Promise<undefined> {
  while (!signal.aborted) {
    if (await isReady(pid).catch(() => false)) return;
    await sleep(50);
  }
}

const hasExited = (child: ChildProcess) =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

const OUTPUT_BYTES = 64 * 1024;

/** The last of what was written after `from`. */
function readFrom(file: string, from: number): string {
  try {
    const fd = openSync(file, 'r');
    try {
      const buffer = Buffer.alloc(OUTPUT_BYTES);
      const start = Math.max(from, fstatSync(fd).size - OUTPUT_BYTES);
      return buffer.toString('utf8', 0, readSync(fd, buffer, 0, OUTPUT_BYTES, start));
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}
