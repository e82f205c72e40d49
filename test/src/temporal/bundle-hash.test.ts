import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleHash } from '../../../src/temporal/bundle-hash';

const CODE = ['workflows/object/clock.js', 'workflows/order.js', 'src/domain/money.js', 'src/errors.js'];

let checkout: string;
let compiled: string;
beforeEach(() => {
  checkout = mkdtempSync(path.join(tmpdir(), 'bundle-'));
  compiled = path.join(checkout, 'dist');
  writeFileSync(path.join(checkout, 'package-lock.json'), '{}');
  for (const file of [...CODE, 'src/config.js']) {
    mkdirSync(path.dirname(path.join(compiled, file)), { recursive: true });
    writeFileSync(path.join(compiled, file), '');
  }
});
afterEach(() => rmSync(checkout, { recursive: true }));

it.each([...CODE.map((file) => `dist/${file}`), 'package-lock.json'])('another %s is another bundle', async (file) => {
  const before = await bundleHash(compiled);
  expect(await bundleHash(compiled)).toBe(before);
  appendFileSync(path.join(checkout, file), ' ');
  expect(await bundleHash(compiled)).not.toBe(before);
});

it('code that is not in it does not make another one', async () => {
  const before = await bundleHash(compiled);
  appendFileSync(path.join(compiled, 'src/config.js'), ' ');
  expect(await bundleHash(compiled)).toBe(before);
});

it('says what is missing where there is no lock file: without it nobody knows which packages are in the bundle', async () => {
  rmSync(path.join(checkout, 'package-lock.json'));
  await expect(bundleHash(compiled)).rejects.toThrow('package-lock.json');
});
