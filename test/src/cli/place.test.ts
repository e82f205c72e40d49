import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cursorFile, findPlace, listenSecret } from '../../../src/cli/place';

const folder = mkdtempSync(path.join(tmpdir(), 'payments-place-'));
const empty = path.join(folder, 'empty');
const STACK = { api_url: 'http://127.0.0.1:3000', test_api_key: 'key-of-stack' };
beforeAll(() => {
  mkdirSync(empty);
  mkdirSync(path.join(folder, '.data'));
  writeFileSync(path.join(folder, '.data', 'stack.json'), JSON.stringify(STACK));
});
afterAll(() => rmSync(folder, { recursive: true }));

const ELSEWHERE = 'https://payments.example/';

test('rules 13.21: the address and key are those of the variables, otherwise of the stack in the folder', () => {
  expect(findPlace({}, folder)).toEqual({ url: STACK.api_url, api_key: STACK.test_api_key });
  expect(findPlace({ PAYMENTS_API_URL: '', PAYMENTS_API_KEY: '' }, folder)).toEqual(findPlace({}, folder));
  expect(findPlace({ PAYMENTS_API_KEY: 'other' }, folder)).toEqual({ url: STACK.api_url, api_key: 'other' });
  expect(findPlace({ PAYMENTS_API_URL: ELSEWHERE, PAYMENTS_API_KEY: 'other' }, folder)).toEqual({
    url: 'https://payments.example',
    api_key: 'other',
  });
});

test('rules 13.21: the key of the stack goes to no other address; what is missing is named', () => {
  expect(() => findPlace({ PAYMENTS_API_URL: ELSEWHERE }, folder)).toThrow('Set PAYMENTS_API_KEY');
  expect(() => findPlace({}, empty)).toThrow('Set PAYMENTS_API_URL');
});

test('rules 13.21: each key has its secret, and each project and address its cursor', () => {
  expect(listenSecret({ api_key: 'a' })).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(listenSecret({ api_key: 'a' })).toBe(listenSecret({ api_key: 'a' }));
  expect(listenSecret({ api_key: 'a' })).not.toBe(listenSecret({ api_key: 'b' }));
  const fileOf = (forward_to: string) =>
    cursorFile({ XDG_STATE_HOME: folder }, { url: ELSEWHERE, project_id: '1', forward_to });
  expect(fileOf('http://127.0.0.1:1/')).toMatch(path.join(folder, 'payments', 'listen-'));
  expect(fileOf('http://127.0.0.1:1/')).not.toBe(fileOf('http://127.0.0.1:2/'));
});
