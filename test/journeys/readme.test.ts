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
    expect(calls()).toHaveLength(6);
    // A terminal shows each answer on a line of its own.
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', calls().join('\necho\n')], { cwd: folder });
    const [created, paid, read, refund, capture, released] = stdout
      .trim()
      .split(/\n+|(?<=\})(?=\{"id")/)
      .map((line) => JSON.parse(line) as { id: string; status: string; order_url: string; transactions?: unknown[] });
    expect(created).toMatchObject({
      status: 'new',
      merchant_order_id: 'M-1001',
      order_url: expect.stringContaining(`/pay/${created?.id}/`) as string,
    });
    expect(paid).toMatchObject({
      status: 'completed',
      transactions: [{ status: 'accepted', outcomes: { processing: { response_code: '00' } } }],
    });
    expect(read).toEqual(paid);
    expect([refund, capture, released]).toMatchObject([
      { status: 'completed', amount: 500, refund_of_order_id: paid?.id },
      { status: 'completed', amount: 2500, flags: ['is-test', 'is-capture'] },
      { status: 'completed', amount: 1500, flags: ['is-test', 'is-void'] },
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
