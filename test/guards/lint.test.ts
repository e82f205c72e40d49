import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from './repository';

/** What lint is here for: each line loses an error, or hides one. */
const REFUSED: [rule: string, source: string][] = [
  ['no-floating-promises', `export function f(save: () => Promise<void>): void { save(); }`],
  ['no-misused-promises', `export function f(save: () => Promise<void>): void { [1].forEach(save); }`],
  ['await-thenable', `export async function f(n: number): Promise<void> { await n; }`],
  [
    'return-await',
    `export async function f(save: () => Promise<void>): Promise<void> { try { return save(); } catch { return; } }`,
  ],
  ['only-throw-error', `export function f(): never { throw 'late'; }`],
  ['no-explicit-any', `export const f = (value: any): string => value;`],
  ['no-console', `export function f(): void { console.log('here'); }`],
  ['switch-exhaustiveness-check', `export function f(side: 'a' | 'b'): void { switch (side) { case 'a': break; } }`],
];

it('refuses code that loses an error', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lint-'));
  try {
    const compilerOptions = { strict: true, module: 'nodenext', target: 'es2023', types: [], noEmit: true };
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    for (const [rule, source] of REFUSED) writeFileSync(path.join(folder, `${rule}.ts`), source);
    const bin = path.join(ROOT, 'node_modules/.bin');
    const lint = spawnSync(
      path.join(bin, 'oxlint'),
      ['--type-aware', '--config', path.join(ROOT, '.oxlintrc.json'), '--format', 'json', '.'],
      {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env['PATH'] ?? ''}` },
      },
    );
    const { diagnostics } = JSON.parse(lint.stdout) as {
      diagnostics: { code: string; filename: string; severity: string }[];
    };
    const refused = diagnostics.map(
      ({ code, filename, severity }) =>
        `${severity} ${path.basename(filename, '.ts')} ${/\((.*)\)/.exec(code)?.[1] ?? code}`,
    );
    expect(refused).toEqual(expect.arrayContaining(REFUSED.map(([rule]) => `error ${rule} ${rule}`)));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
