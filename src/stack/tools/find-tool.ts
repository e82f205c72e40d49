import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { StackFailure, diskFull, isDiskFull } from '../failure';
import { displayPath } from '../files';
import type { Progress } from '../progress';
import { isExecutable, onPath } from './command';
import { waitForLock } from './lock';

/** A server's program, and the ways to come by it. */
export interface Tool {
  /** The name that people know. */
  title: string;
  /** Its file in TOOLS_DIR. */
  file: string;
  /** The variable of the environment that names a path, and its value. */
  variable?: string;
  given?: string | undefined;
  /** Its name on PATH. */
  name_on_path: string;
  /** Whether a program found on PATH or named by the variable is it, and new enough. */
  serves: (program: string) => Promise<boolean>;
  /** Whether the one in TOOLS_DIR is exactly the version this code was written for. */
  isOurs: (program: string) => Promise<boolean>;
  /** Ways to make it, tried in this order. */
  sources: ToolSource[];
  /** The remedy if no source works; a sentence that follows their errors. */
  remedy: string;
}

/** One source of a program. */
export interface ToolSource {
  /** For example `building it from its Go module (about 4 minutes, once)`. */
  text: string;
  /** Writes the program to `draft`. Throws an Error with the reason if it cannot. */
  make: (draft: string, signal: AbortSignal) => Promise<void>;
}

/** The input of every search for a program. */
export interface Tools {
  tools_dir: string;
  progress: Progress;
  /** Aborts when the stack is stopped. */
  signal: AbortSignal;
}

/**
 * The path of the tool's program: from the variable, PATH or TOOLS_DIR. Otherwise the first source that works creates
 * it in TOOLS_DIR, under a lock and with a draft's name until it is complete. Throws a StackFailure with the remedy.
 */
export async function findTool(tool: Tool, { tools_dir, progress, signal }: Tools): Promise<string> {
  if (tool.given !== undefined) {
    if (await answers(tool.serves, tool.given)) return tool.given;
    throw new StackFailure(
      `${tool.variable} is ${tool.given}, which is no ${tool.title} or too old: correct it, or leave it out.`,
    );
  }
  const found = onPath(tool.name_on_path);
  if (found !== undefined) {
    if (await answers(tool.serves, found)) return found;
    progress.say(tool.title, `${found} is passed over: it is too old or does not answer`);
  }
  const target = path.join(tools_dir, tool.file);
  if (await answers(tool.isOurs, target)) return target;

  mkdirSync(tools_dir, { recursive: true });
  const onWait = ({ held_by }: { held_by: number }) =>
    progress.say(tool.title, `process ${held_by} is making it; waiting`);
  const lock = await waitForLock(`${target}.lock`, onWait, signal);
  try {
    if (await answers(tool.isOurs, target)) return target;
    await make(tool, target, progress, signal);
    return target;
  } finally {
    lock.release();
  }
}

async function make(tool: Tool, target: string, progress: Progress, signal: AbortSignal): Promise<void> {
  const folder = path.dirname(target);
  for (const name of readdirSync(folder)) {
    if (name.startsWith(`${tool.file}.draft`)) rmSync(path.join(folder, name), { recursive: true, force: true });
  }
  const draft = `${target}.draft-${process.pid}`;
  const reasons: string[] = [];
  try {
    for (const source of tool.sources) {
      try {
        await progress.step(tool.title, source.text, () => source.make(draft, signal));
        if (!(await answers(tool.isOurs, draft))) throw new Error('what came does not answer as it should');
        renameSync(draft, target);
        return;
      } catch (error) {
        const reason = (error as Error).message;
        if (signal.aborted) throw error;
        if (isDiskFull(reason)) throw diskFull(displayPath(folder), `${tool.title}: ${reason}`);
        progress.say(tool.title, `${source.text}: not possible: ${reason}`);
        reasons.push(reason);
      }
    }
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  throw new StackFailure(`No ${tool.title}: ${reasons.join('; ')}. ${tool.remedy}`);
}

async function answers(question: (program: string) => Promise<boolean>, program: string): Promise<boolean> {
  return isExecutable(program) && (await question(program).catch(() => false));
}
