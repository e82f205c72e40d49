import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { guardFirstStart } from '../../../../src/stack/programs/first-start';

test('data half made by a first start that was cut short are made anew; whole data never', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'first-start-'));
  const [marker, data] = [path.join(folder, 'marker'), path.join(folder, 'data')] as const;
  const start = (text: string, cut?: Error) =>
    guardFirstStart(marker, [data], () => {
      if (!existsSync(data)) writeFileSync(data, text);
      return cut ? Promise.reject(cut) : Promise.resolve();
    });
  const content = () => readFileSync(data, 'utf8');

  await expect(start('half', new Error('killed'))).rejects.toThrow('killed');
  expect(content()).toBe('half');
  await start('whole');
  expect(content()).toBe('whole');
  await expect(start('never', new Error('killed'))).rejects.toThrow('killed');
  await start('never');
  expect(content()).toBe('whole');
  rmSync(folder, { recursive: true });
});
