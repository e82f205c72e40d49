import { spawn } from 'node:child_process';
import { existsSync, readdirSync, watch } from 'node:fs';
import path from 'node:path';
import { parseConfig } from '../config';
import { describeBuild } from '../processes/build';
import { runStack } from '../processes/stack';
import type { StackFacts } from '../stack/facts';
import { readFileIfExists, repositoryRoot } from '../stack/files';

/** The folders that are compiled. */
const FOLDERS = ['src', 'workflows', 'activities', 'api'];
/**
 * The processes that run the compiled code. To end them is enough, as the supervisor starts them again; the servers
 * stay.
 */
const OURS = ['api', 'manage', 'worker', 'simulator', 'codec'];
/** Editors write a file in several steps, and a checkout writes many. Milliseconds. */
const RELOAD_AFTER_MS = 150;

const root = repositoryRoot();
const { DATA_DIR } = parseConfig(process.env);

const watched = new Set<string>();
let reloading: NodeJS.Timeout | undefined;
let compiling = false;

runStack(process.env);
watchAll();

/**
 * Not `tsc --watch`: TypeScript 7.0 sees no change where fanotify does not work, as in many containers. Each folder is
 * watched alone: Node's recursive watch loses a file that an editor has replaced.
 */
function watchAll(): void {
  for (const folder of FOLDERS.flatMap((name) => foldersBelow(path.join(root, name)))) {
    if (watched.has(folder)) continue;
    watched.add(folder);
    const watcher = watch(folder, (_event, name) => {
      if (!existsSync(folder)) {
        watcher.close();
        watched.delete(folder);
      }
      // A name without an extension may be a new folder.
      if (name === null || /(\.tsx?|^[^.]+)$/.test(name)) reloadSoon();
    });
  }
}

function foldersBelow(folder: string): string[] {
  const inside = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...inside.flatMap(({ name }) => foldersBelow(path.join(folder, name)))];
}

function reloadSoon(): void {
  clearTimeout(reloading);
  reloading = setTimeout(reload, RELOAD_AFTER_MS);
}

function reload(): void {
  if (compiling) return reloadSoon();
  compiling = true;
  watchAll();
  const compiler = spawn(
    process.execPath,
    [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
    { cwd: root, stdio: 'inherit' },
  );
  compiler.once('close', (code) => {
    compiling = false;
    if (code === 0) void describeBuild(Date.now()).then(endOurs);
  });
}

function endOurs(): void {
  // Without the file the stack is still starting with the new code, or is stopping.
  const { pids = {} } = JSON.parse(readFileIfExists(path.join(DATA_DIR, 'stack.json')) ?? '{}') as Partial<StackFacts>;
  for (const name of OURS) {
    const pid = pids[name];
    if (pid === undefined) continue;
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // It has just ended by itself.
    }
  }
}
