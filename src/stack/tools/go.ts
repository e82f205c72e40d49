import { readFileSync } from 'node:fs';
import path from 'node:path';
import { coerce, lt } from 'semver';
import { isExecutable, onPath, runCommand } from './command';

/**
 * Builds a program from a Go module: the folder `module` holds go.mod and go.sum, `package` is the program's path in
 * it or in a module that it requires, `to` the file to write. Throws an Error that says which Go to install where it is
 * missing or too old, or why the build failed.
 */
export async function buildGoProgram(program: {
  module: string;
  package: string;
  to: string;
  signal?: AbortSignal;
}): Promise<void> {
  const args = ['build', '-trimpath', '-ldflags', '-s -w', '-o', program.to, program.package];
  await runGo(program, args);
}

/** Runs the `go` command in the folder `module`. Throws an Error as `buildGoProgram` does. */
export async function runGo(
  { module, signal }: { module: string; signal?: AbortSignal },
  args: string[],
): Promise<void> {
  const needed = /^go (\S+)/m.exec(readFileSync(path.join(module, 'go.mod'), 'utf8'))?.[1] ?? '';
  const go = onPath('go') ?? ['/usr/local/go/bin/go', '/opt/homebrew/bin/go'].find(isExecutable);
  if (go === undefined) throw new Error(`Go is not installed: install Go ${needed} or newer (https://go.dev/dl)`);
  // For this machine and from this module alone, whatever the shell is set up for.
  const ours = {
    CGO_ENABLED: '0',
    GOFLAGS: '-mod=readonly',
    GOTOOLCHAIN: 'local',
    GOWORK: 'off',
    GOOS: '',
    GOARCH: '',
  };
  const env = { ...process.env, ...ours };
  const has = (await runCommand(go, ['env', 'GOVERSION'], { env, signal })).trim().replace(/^go/, '');
  // Go's versions are not quite semantic ones: 1.27rc1.
  if (lt(coerce(has) ?? '0.0.0', coerce(needed) ?? '0.0.0')) {
    throw new Error(`Go ${has} is too old: install Go ${needed} or newer (https://go.dev/dl)`);
  }
  await runCommand(go, args, { cwd: module, env, signal });
}
