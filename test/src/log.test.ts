import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createLogger, withoutSecrets } from '../../src/log';
import { repositoryRoot } from '../../src/stack/files';

const API_KEY = `test_${'0123456789ab'.padEnd(52, '0123456789abcdef')}`;

test.each([
  ['a card number', 'paid with 4111111111111111.', 'paid with [card number].'],
  ['with spaces', 'paid with 4111 1111 1111 1111', 'paid with [card number]'],
  ['with hyphens, in JSON', '{"pan":"5544-3300-0000-0037"}', '{"pan":"[card number]"}'],
  ['an API key', `key ${API_KEY} is wrong`, 'key test_[key] is wrong'],
  ['a live key in JSON', `{"key":"${API_KEY.replace('test', 'live')}"}`, '{"key":"live_[key]"}'],
  ['a header', 'authorization: Basic dGVzdF8wMTIzNDU2Nzg5YWI6', 'authorization: Basic [credentials]'],
  ['a bearer token', 'Bearer eyJhbGciOi.J9.x-y_z', 'Bearer [credentials]'],
  ['a webhook secret', 'whsec_c2ltdWxhdG9yX2RldmVsb3BtZW50X29ubHk=', 'whsec_[key]'],
])('drops %s', (_title, text, kept) => {
  expect(withoutSecrets(text)).toBe(kept);
});

test.each([
  ['ids', '0190c000-0000-7000-8000-000000000001'],
  ['instants', '{"time":"2026-01-15T12:00:05.433Z","ms":1768478405433}'],
  ['numbers that no brand issues', '1234567890123456'],
  ['what is left of a card', '411111******1111'],
  ['words', 'a Basic key, test_project, whsec'],
])('keeps %s', (_title, text) => {
  expect(withoutSecrets(text)).toBe(text);
});

test('every line is one JSON value with its process, whatever field held the secret', () => {
  const lines: string[] = [];
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  try {
    const log = createLogger({ process: 'api', level: 'info' });
    log.info(
      {
        deep: { pan: '4111111111111111', number: 4111111111111111 },
        text: '{"pan":4111111111111111}',
        error: { message: `wrong key ${API_KEY}` },
      },
      'card 4111111111111111\nsecond line',
    );
    log.debug('not at this level');
  } finally {
    write.mockRestore();
  }
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    process: 'api',
    deep: { pan: '[card number]', number: '[card number]' },
    text: '{"pan":[card number]}',
    error: { message: 'wrong key test_[key]' },
    msg: 'card [card number]\nsecond line',
  });
});

test.each(['err', 'error'])('rules 24.26: of an error of Postgres `%s` has no contents of rows', (field) => {
  const lines: string[] = [];
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  const error = Object.assign(new Error('new row for relation "orders" violates check constraint "orders_amount"'), {
    code: '23514',
    table: 'orders',
    detail: 'Failing row contains (1, ada@shop.example).',
    where: 'PL/pgSQL function with ada@shop.example',
    internalQuery: `select 'ada@shop.example'`,
    bindings: ['ada@shop.example'],
  });
  try {
    createLogger({ process: 'worker', level: 'info' }).error({ [field]: error }, 'activity failed');
  } finally {
    write.mockRestore();
  }
  const { stack } = error;
  expect(JSON.parse(lines[0]!)).toMatchObject({ [field]: { code: '23514', table: 'orders', stack } });
  expect(lines[0]).not.toContain('ada@shop.example');
});

test('a process whose log cannot be written, as on a full disk, goes on', () => {
  const program = `
    const log = require('./dist/src/log').createLogger({ process: 'api', level: 'info' });
    log.info('one');
    setTimeout(() => (log.info('two'), process.exit(7)), 100);`;
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, ['-e', program], {
    cwd: repositoryRoot(),
    stdio: ['ignore', full, 'pipe'],
  });
  closeSync(full);
  expect([status, String(stderr)]).toEqual([7, '']);
});

test('rules 24.12: control and format characters are escaped, and the line is the same JSON', () => {
  const lines: string[] = [];
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  const name = 'Shop \u001b[31m\u009b2J\u202egpj\u2028\u200b\ud800';
  try {
    createLogger({ process: 'api', level: 'info' }).info({ name }, 'created %s', name);
  } finally {
    write.mockRestore();
  }
  expect(lines).toEqual([expect.stringMatching(/^[ -~]+\n$/)]);
  expect(JSON.parse(lines[0]!)).toMatchObject({ name, msg: `created ${name}` });
});
