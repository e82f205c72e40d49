import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { tellingLine } from '../failure';

/** Options for running a program; folder, environment and user default to those of this process. */
export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  user?: { uid: number; gid: number } | undefined;
  /** Ends the program when it aborts. */
  signal?: AbortSignal | undefined;
  /** Whether the signal ends all processes that the program has started, before this rejects. */
  ends_group?: boolean;
  /** Milliseconds it may take. */
  timeout_ms?: number;
}

const KEPT_CHARACTERS = 64 * 1024;

/**
 * Runs a program to its end and returns what it printed. Throws an Error with the line of its output that explains the
 * failure.
 */
export function runCommand(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const { signal: stop, ends_group = false } = options;
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: ends_group,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: options.env ?? process.env,
      ...(stop === undefined || ends_group ? {} : { signal: stop }),
      ...(options.timeout_ms === undefined ? {} : { timeout: options.timeout_ms }),
      ...options.user,
    });
    const endGroup = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // They have ended.
      }
    };
    if (ends_group) stop?.addEventListener('abort', endGroup);
    if (ends_group && stop?.aborted) endGroup();
    let printed = '';
    const keep = (chunk: Buffer) => {
      printed = (printed + chunk.toString('utf8')).slice(-KEPT_CHARACTERS);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      stop?.removeEventListener('abort', endGroup);
      if (code === 0) resolve(printed);
      else if (signal !== null) reject(new Error(`ended by ${signal}`));
      else reject(new Error(tellingLine(printed)));
    });
  });
}

/** The program's path on PATH; `undefined` when it is not found. */
export function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => path.join(folder, name)).find(isExecutable);
}

/** Whether there is such a file, and this process may run it. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
