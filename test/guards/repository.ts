import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The checkout the guards look at. */
export const ROOT = path.resolve(__dirname, '../..');

let listed: readonly string[] | undefined;

/** Every file that is committed or about to be, with `/` in its path. Listed once for a test file. */
export function files(): readonly string[] {
  if (listed !== undefined) return listed;
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const found = new Set(execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\0'));
  return (listed = [...found].filter((file) => file !== '' && existsSync(path.join(ROOT, file))));
}

/** TypeScript of ours below one of the folders. */
export function code(...folders: string[]): string[] {
  return files().filter((file) => /\.tsx?$/.test(file) && folders.some((folder) => file.startsWith(`${folder}/`)));
}

/**
 * The text of a file; nothing where it does not exist, so that a guard says what is missing instead of failing to read.
 */
export function textOfFile(file: string): string {
  const whole = path.join(ROOT, file);
  return existsSync(whole) ? readFileSync(whole, 'utf8') : '';
}

/** Lines as `file:line: text`, for a failure that says where. */
export function linesWith(file: string, pattern: RegExp): string[] {
  return textOfFile(file)
    .split('\n')
    .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : []));
}
