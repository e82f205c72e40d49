import path from 'node:path';
import { configSchema, parseConfig, processorSecret, requireSetting, valuesOf } from '../../src/config';

test('rules 18.5: an empty environment is a whole configuration', () => {
  const config = parseConfig({});
  expect(config).toMatchObject({
    API_PORT: 3000,
    API_DEADLINE_MS: 12_000,
    DRAIN_MS: 5_000,
    PROCESSOR_TIMEOUT_MS: 4_000,
    WEBHOOK_PRIVATE_ADDRESSES: false,
    TEMPORAL_NAMESPACE: 'payments',
  });
  expect([config.DATA_DIR, config.TOOLS_DIR].every((folder) => path.isAbsolute(folder))).toBe(true);
});

test('a variable that is set to nothing is not set', () => {
  expect(parseConfig({ API_PORT: '', POSTGRES_URL: '', RATE_LIMIT_PER_SECOND: ' ' })).toEqual(parseConfig({}));
});

test('every wrong variable is named, with what is wrong, and no value is shown', () => {
  const wrong = {
    API_PORT: '70000',
    LOG_LEVEL: 'loud',
    WEBHOOK_PRIVATE_ADDRESSES: 'yes',
    PUBLIC_URL: 'ftp://secret.example',
    PAGE_SECRET: 'short-secret',
    API_DEADLINE_MS: '-1',
    POSTGRES_URL: 'postgres://payments:secret/1@host:5432/payments',
    SIMULATOR_POSTGRES_URL: 'postgres://simulator:secret#1@host:5432/simulator',
  };
  let text = '';
  try {
    parseConfig(wrong);
  } catch (error) {
    text = (error as Error).message;
  }
  for (const name of Object.keys(wrong)) expect(text).toMatch(new RegExp(`^  ${name}: `, 'm'));
  expect(text).not.toMatch(/secret/);
});

test('numbers and flags are parsed', () => {
  expect(parseConfig({ API_PORT: '0', WEBHOOK_PRIVATE_ADDRESSES: 'true', API_KEY_CACHE_MS: '250' })).toMatchObject({
    API_PORT: 0,
    WEBHOOK_PRIVATE_ADDRESSES: true,
    API_KEY_CACHE_MS: 250,
  });
});

test('rules 24.20: WORKER_ROLES is a list in any order, by default of everything', () => {
  const rolesOf = (env: Record<string, string>) => parseConfig(env).WORKER_ROLES;
  expect(rolesOf({})).toEqual(['payments', 'webhooks', 'keeper']);
  expect(rolesOf({ WORKER_ROLES: 'webhooks, keeper,payments,webhooks' })).toEqual(['webhooks', 'keeper', 'payments']);
  expect(() => rolesOf({ WORKER_ROLES: 'payments,all' })).toThrow('WORKER_ROLES.1: ');
});

test('a variable that one process requires is named in its error', () => {
  expect(() => requireSetting(parseConfig({}), 'POSTGRES_URL')).toThrow(/^POSTGRES_URL is not set: PostgreSQL/);
  expect(requireSetting(parseConfig({ POSTGRES_URL: 'postgres://x/y' }), 'POSTGRES_URL')).toBe('postgres://x/y');
});

const [page, notification] = ['p'.repeat(32), `whsec_${'n'.repeat(32)}`];
test.each([
  ['PAGE_SECRET', page, 1],
  ['PAGE_SECRET', `${page},${page}`, 2],
  ['PAGE_SECRET', `${page},short`, 0],
  ['PAGE_SECRET', `${page},${page},${page}`, 0],
  ['PROCESSOR_NOTIFICATION_SECRET', notification, 1],
  ['PROCESSOR_NOTIFICATION_SECRET', `${notification},${notification}`, 2],
  ['PROCESSOR_NOTIFICATION_SECRET', `${notification},${page}`, 0],
] as const)('rules 24.23: %s takes one value, or two while one replaces the other', (name, value, count) => {
  const parse = () => valuesOf(parseConfig({ [name]: value })[name] ?? '').length;
  if (count === 0) expect(parse).toThrow(`${name}: `);
  else expect(parse()).toBe(count);
});

describe.each(['PROCESSOR_KEY', 'PROCESSOR_NOTIFICATION_SECRET'] as const)('%s', (name) => {
  const standard = parseConfig({})[name];
  const secretWith = (env: Record<string, string>) => () => processorSecret(parseConfig(env), name);

  test.each(['https://api.processor.example.com', 'http://simulator:3001', 'http://10.0.0.1', 'http://[2001:db8::1]/'])(
    'rules 24.23: is not the default for a processor at %s',
    (PROCESSOR_URL) => {
      expect(secretWith({ PROCESSOR_URL })).toThrow(new RegExp(`^${name} has its default, which is public: `));
      expect(secretWith({ PROCESSOR_URL, [name]: notification })()).toBe(notification);
    },
  );

  test.each(['http://127.0.0.1:3001', 'http://localhost:3001', 'http://[::1]:3001', ''])(
    'is the default for the simulator of this machine, at "%s"',
    (PROCESSOR_URL) => expect(secretWith({ PROCESSOR_URL })()).toBe(standard),
  );
});

test('rules 24.23: the default of PROCESSOR_NOTIFICATION_SECRET is not accepted beside another one either', () => {
  const both = `${notification},${parseConfig({}).PROCESSOR_NOTIFICATION_SECRET}`;
  const config = parseConfig({ PROCESSOR_URL: 'http://simulator:3001', PROCESSOR_NOTIFICATION_SECRET: both });
  expect(() => processorSecret(config, 'PROCESSOR_NOTIFICATION_SECRET')).toThrow(/^PROCESSOR_NOTIFICATION_SECRET has /);
});

test('every variable has a description, and milliseconds in the name are milliseconds in the text', () => {
  for (const [name, field] of Object.entries(configSchema.shape)) {
    expect([name, field.description?.endsWith('.')]).toEqual([name, true]);
    if (name.endsWith('_MS')) expect(field.description).toMatch(/^Milliseconds/);
  }
});
