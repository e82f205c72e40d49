import { statfs } from 'node:fs/promises';
import { displayPath } from './files';

/** A failure that the user can fix. Its message is one line with the fault and the remedy. */
export class StackFailure extends Error {
  override readonly name = 'StackFailure';
}

/** How a full disk shows itself in Node, Go, Java, PostgreSQL, SQLite and Meilisearch. */
const DISK_FULL = /ENOSPC|no space left on device|disk is full|disk quota exceeded/i;

/** Whether a program's output reports a full disk. */
export function isDiskFull(text: string): boolean {
  return DISK_FULL.test(text);
}

/** The message for a full disk; `detail` is the output of the program that reported it. */
export function diskFull(folder: string, detail: string): StackFailure {
  return new StackFailure(`The disk is full: make room below ${folder} and start again (${firstLine(detail)}).`);
}

/** One line for any failure; a full disk is named as the cause. */
export function explain(cause: unknown, folder: string): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  if (text.startsWith('The disk is full:')) return text;
  if (isDiskFull(text)) return diskFull(folder, text).message;
  return cause instanceof StackFailure ? text : `Unexpected: ${text}`;
}

/** The most informative error line of a program's output, shortened to 300 characters. */
export function tellingLine(output: string): string {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const full = lines.findLast(isDiskFull);
  const fatal = lines.findLast((line) => line.startsWith('{"level":60,'));
  const error = lines.find((line) => /error|fatal|panic|refused|denied|cannot|unable|failed/i.test(line));
  return inWords(full ?? fatal ?? error ?? lines.at(-1) ?? 'it said nothing').slice(0, 300);
}

/** The message of the error in a line of our own logs; another line as it is. */
function inWords(line: string): string {
  try {
    const { err } = JSON.parse(line) as { err?: { message?: string } };
    return err?.message ?? line;
  } catch {
    return line;
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

const MB = 1024 * 1024;
/** Less than this and the first start of the three servers does not fit. */
const LEAST_BYTES = 250 * MB;

/** Throws a StackFailure when the folder's disk is full or nearly so: servers that run out of room fail in odd ways. */
export async function checkRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free < LEAST_BYTES) {
    throw diskFull(displayPath(folder), `${Math.floor(free / MB)} MB are free; the servers need ${LEAST_BYTES / MB}`);
  }
}
