import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { onPath } from '../../src/stack/tools/command';

/** Runs promtool. Rejects with all that it printed when it refuses, or with how to install it. */
export async function promtool(args: readonly string[]): Promise<void> {
  const program = process.env['PROMTOOL_PATH'] ?? onPath('promtool');
  if (program === undefined) {
    throw new Error(
      'promtool is not installed: install Prometheus (Debian: apt-get install --no-install-recommends prometheus; ' +
        'others: https://prometheus.io/download), or set PROMTOOL_PATH',
    );
  }
  await promisify(execFile)(program, args).catch((error: unknown) => {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`promtool ${args.slice(0, 2).join(' ')}: ${stdout}${stderr}`.replace(/\n\s*\n+/g, '\n').trim());
  });
}
