import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { discardOtherVersion, meilisearchData, meilisearchTool } from '../../../../src/stack/servers/meilisearch';

test.each([
  ['meilisearch 1.21.0', 'serves', 'ours'],
  ['meilisearch 1.21.3', 'serves', ''],
  ['meilisearch 1.100.0', 'serves', ''],
  ['meilisearch 2.0.0', 'serves', ''],
  ['meilisearch 1.20.9', '', ''],
  ['meilisearch 1.9.0', '', ''],
  ['meilisearch 0.30.5', '', ''],
  ['a clock, version 9.9.9', '', ''],
])('a program that says %j: %s %s', async (said, serves, ours) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'meilisearch-'));
  try {
    const program = path.join(folder, 'meilisearch');
    writeFileSync(program, `#!/bin/sh\necho '${said}'\n`, { mode: 0o755 });
    const tool = meilisearchTool(undefined);
    expect(await tool.serves(program)).toBe(serves !== '');
    expect(await tool.isOurs(program)).toBe(ours !== '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ['1.21.0', undefined],
  ['1.22.1', '1.22.1'],
])(
  'rules 20.18: the program of 1.21.0 discards the data of another version: those of %s',
  async (written, discarded) => {
    const data_dir = mkdtempSync(path.join(tmpdir(), 'meilisearch-'));
    try {
      const program = path.join(data_dir, 'program');
      writeFileSync(program, `#!/bin/sh\necho 'meilisearch 1.21.0'\n`, { mode: 0o755 });
      expect(await discardOtherVersion({ program, data_dir })).toBeUndefined();
      mkdirSync(meilisearchData(data_dir), { recursive: true });
      writeFileSync(path.join(meilisearchData(data_dir), 'VERSION'), written);
      expect(await discardOtherVersion({ program, data_dir })).toBe(discarded);
      expect(existsSync(meilisearchData(data_dir))).toBe(discarded === undefined);
    } finally {
      rmSync(data_dir, { recursive: true, force: true });
    }
  },
);
