import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { commandConfig } from '../../../src/admin/config';

test('rules 22.3: without POSTGRES_URL a command works on the stack that runs on DATA_DIR, else by the environment', () => {
  const DATA_DIR = mkdtempSync(path.join(os.tmpdir(), 'stack-'));
  try {
    writeFileSync(path.join(DATA_DIR, 'stack.env'), "POSTGRES_URL='postgres://stack/'\nLOG_LEVEL='warn'\n");
    writeFileSync(path.join(DATA_DIR, 'stack.json'), JSON.stringify({ postgres_url: 'postgres://owner/' }));
    const databaseOf = (env: Record<string, string>) => {
      const { POSTGRES_URL, POSTGRES_OWNER_URL, LOG_LEVEL } = commandConfig({ DATA_DIR, ...env });
      return [POSTGRES_URL, POSTGRES_OWNER_URL, LOG_LEVEL];
    };
    expect(databaseOf({})).toEqual(['postgres://stack/', 'postgres://owner/', 'warn']);
    expect(databaseOf({ LOG_LEVEL: '', POSTGRES_URL: ' ' })).toEqual(databaseOf({}));
    expect(databaseOf({ LOG_LEVEL: 'error' })).toEqual(['postgres://stack/', 'postgres://owner/', 'error']);
    expect(databaseOf({ POSTGRES_URL: 'postgres://other/' })).toEqual(['postgres://other/', undefined, 'info']);
  } finally {
    rmSync(DATA_DIR, { recursive: true });
  }
});
