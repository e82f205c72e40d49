import { SecretKeys } from '../../src/secrets';

const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;
const OLD = new SecretKeys(key('k1', 1));
const BOTH = new SecretKeys(`${key('k2', 2)}, ${key('k1', 1)}`);
const NEW = new SecretKeys(key('k2', 2));

test('rules 21.11: a secret matches its own hash only', () => {
  const hash = OLD.hash('secret');
  expect([OLD.matches('secret', hash), OLD.matches('secres', hash), OLD.matches('', hash)]).toEqual([
    true,
    false,
    false,
  ]);
});

test('the hash needs the key: two keys hash a secret differently', () => {
  expect(OLD.hash('secret').secret_hash).not.toEqual(NEW.hash('secret').secret_hash);
  expect(NEW.matches('secret', { ...OLD.hash('secret'), secret_key_id: 'k2' })).toBe(false);
});

test('the first key protects what is new, all are read, and what a removed one protected is lost', () => {
  const [hash, encrypted] = [OLD.hash('secret'), OLD.encrypt('text', 'row')];
  expect([BOTH.matches('secret', hash), BOTH.decrypt(encrypted, 'row')]).toEqual([true, 'text']);
  expect([BOTH.hash('secret').secret_key_id, BOTH.encrypt('text', 'row').secret_key_id]).toEqual(['k2', 'k2']);
  expect(NEW.matches('secret', hash)).toBe(false);
  expect(() => NEW.decrypt(encrypted, 'row')).toThrow('encrypted with key k1, which SECRET_KEYS lacks');
});

test('rules 21.22: a text is encrypted differently each time, and refused when it was changed or is in another row', () => {
  const [one, other] = [OLD.encrypt('text', 'row'), OLD.encrypt('text', 'row')];
  expect(one.data).not.toEqual(other.data);
  expect(OLD.decrypt(one, 'row')).toBe('text');
  expect(() => OLD.decrypt(one, 'another row')).toThrow();
  const changed = Buffer.from(one.data);
  changed[14]! ^= 1;
  expect(() => OLD.decrypt({ ...one, data: changed }, 'row')).toThrow();
});

test.each(['', `${key('k1', 1)},${key('k1', 2)}`, 'k1', 'k1:c2hvcnQ=', `:${Buffer.alloc(32).toString('base64')}`])(
  '%j is refused',
  (text) => {
    expect(() => new SecretKeys(text)).toThrow('SECRET_KEYS');
  },
);
