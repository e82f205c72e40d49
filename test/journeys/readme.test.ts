import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../../src/stack/files';
import { stack } from '../support/stack';

const run = promisify(execFile);

/** The commands README marks with `<!-- call:NAME -->`, in its order. */
function calls(): string[] {
  const readme = readFileSync(path.join(repositoryRoot(), 'README.md'), 'utf8');
  return [...readme.matchAll(/<!-- call:\w+ -->\n```sh\n([\s\S]*?)```/g)].map(([, commands = '']) => commands);
}

test('the calls of README, copied in its order, make a payment', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'payments-readme-'));
  try {
    symlinkSync(stack().data_dir, path.join(folder, '.data'));
    expect(calls()).toHaveLength(4);
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', calls().join('\n')], { cwd: folder });
    const [created, paid, read] = stdout.trim().split('\n').map((line) => JSON.parse(line) as { id: string; status: string; order_url: string; transactions?: unknown[] });
    expect(created).toMatchObject({ status: 'new', merchant_order_id: 'M-1001', order_url: expect.stringContaining(`/pay/${created?.id}/`) as string });
    expect(paid).toMatchObject({ status: 'completed', transactions: [{ status: 'accepted', outcomes: { processing: { response_code: '00' } } }] });
    expect(read).toEqual(paid);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
