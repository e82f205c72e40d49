import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { onPath } from '../../src/stack/tools/command';

/** The path of a program of Prometheus. Throws an Error that says how to get it where it is missing. */
export function findProgram(name: 'prometheus' | 'promtool'): string {
  const variable = `${name.toUpperCase()}_PATH`;
  const program = process.env[variable] ?? onPath(name);
  if (program !== undefined && program !== '') return program;
  throw new Error(
    `${name} is not installed: install Prometheus (Debian: apt-get install --no-install-recommends prometheus; ` +
      `others: https://prometheus.io/download), or set ${variable}`,
  );
}

/** Runs promtool. Rejects with all that it printed when it refuses. */
export async function runPromtool(program: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(program, args).catch((error: unknown) => {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`promtool ${args.slice(0, 2).join(' ')}: ${stdout}${stderr}`.replace(/\n\s*\n+/g, '\n').trim());
  });
}
