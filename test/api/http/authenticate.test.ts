import { authenticateByApiKey, type FindOwner } from '../../../api/http/authenticate';
import { API_KEY, API_PROJECT, AUTHORIZATION, OWNER } from '../../support/test-api';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const findOwner = jest.fn<ReturnType<FindOwner>, [string]>(async (api_key) =>
  api_key === API_KEY ? OWNER : undefined,
);
beforeEach(() => findOwner.mockClear());

test('rules 2.1: the API key is the username, the password is empty', async () => {
  await expect(authenticateByApiKey(findOwner, 0)(AUTHORIZATION)).resolves.toMatchObject({ project: API_PROJECT });
});

test.each([
  ['the scheme in other letters', AUTHORIZATION.replace('Basic', 'basic')],
  ['more spaces', AUTHORIZATION.replace(' ', '   ')],
  ['base64 without padding', AUTHORIZATION.replace(/=+$/, '')],
])('%s is accepted', async (_title, header) => {
  await expect(authenticateByApiKey(findOwner, 0)(header)).resolves.toMatchObject({ project: API_PROJECT });
});

test.each<[string, string | undefined, number]>([
  ['no header', undefined, 0],
  ['an empty header', '', 0],
  ['no credentials', 'Basic', 0],
  ['the bearer scheme', `Bearer ${API_KEY}`, 0],
  ['the key without base64', `Basic ${API_KEY}:`, 0],
  ['no colon', basic(API_KEY), 0],
  ['a password', basic(`${API_KEY}:x`), 0],
  ['two colons', basic(`${API_KEY}::`), 0],
  ['the key as password', basic(`:${API_KEY}`), 0],
  ['an empty key', basic(':'), 0],
  ['characters that are not base64', 'Basic !!!!', 0],
  ['two headers joined', `${AUTHORIZATION}, ${AUTHORIZATION}`, 0],
  ['a header without end', `Basic ${'A'.repeat(100_000)}`, 0],
  ['a wrong key', basic(`${API_KEY.replace('test', 'live')}:`), 1],
  ['a part of the key', basic(`${API_KEY.slice(0, -1)}:`), 1],
])('rules 2.1 and 2.2: %s: Unauthorized after %#', async (_title, header, lookups) => {
  const refused = authenticateByApiKey(findOwner, 0)(header);
  await expect(refused).rejects.toMatchObject({ error: 'Unauthorized' });
  await expect(refused).rejects.not.toMatchObject({ value: expect.stringContaining(API_KEY.slice(5, 20)) as string });
  expect(findOwner).toHaveBeenCalledTimes(lookups);
});

test('a key that was found is looked up once while it is remembered', async () => {
  const authenticate = authenticateByApiKey(findOwner, 60_000);
  await authenticate(AUTHORIZATION);
  await authenticate(AUTHORIZATION);
  expect(findOwner).toHaveBeenCalledTimes(1);
});

test('requests that come during the look-up of their key share it', async () => {
  const authenticate = authenticateByApiKey(findOwner, 60_000);
  const [first, second] = await Promise.all([authenticate(AUTHORIZATION), authenticate(AUTHORIZATION)]);
  expect(findOwner).toHaveBeenCalledTimes(1);
  expect(second).toBe(first);
});

test('rules 2.6: a revoked key ends with the time it is remembered', async () => {
  jest.useFakeTimers();
  try {
    const authenticate = authenticateByApiKey(findOwner, 1_000);
    await authenticate(AUTHORIZATION);
    findOwner.mockResolvedValueOnce(undefined);
    jest.advanceTimersByTime(999);
    await expect(authenticate(AUTHORIZATION)).resolves.toMatchObject({ project: API_PROJECT });
    jest.advanceTimersByTime(1);
    await expect(authenticate(AUTHORIZATION)).rejects.toMatchObject({ error: 'Unauthorized' });
  } finally {
    jest.useRealTimers();
  }
});

test('rules 21.12: a key that runs out is not remembered beyond that', async () => {
  jest.useFakeTimers({ now: 0 });
  try {
    const authenticate = authenticateByApiKey(findOwner, 1_000);
    findOwner.mockResolvedValueOnce({ ...OWNER, expires_at: 500 });
    await authenticate(AUTHORIZATION);
    findOwner.mockResolvedValueOnce(undefined);
    jest.advanceTimersByTime(499);
    await expect(authenticate(AUTHORIZATION)).resolves.toMatchObject({ project: API_PROJECT });
    jest.advanceTimersByTime(1);
    await expect(authenticate(AUTHORIZATION)).rejects.toMatchObject({ error: 'Unauthorized' });
  } finally {
    jest.useRealTimers();
  }
});

test('a wrong key is looked up each time: it may be new', async () => {
  const authenticate = authenticateByApiKey(findOwner, 60_000);
  for (let time = 0; time < 2; time++) {
    await expect(authenticate(basic('test_x:'))).rejects.toMatchObject({ error: 'Unauthorized' });
  }
  expect(findOwner).toHaveBeenCalledTimes(2);
});

test('a look-up that fails is not taken for a wrong key', async () => {
  findOwner.mockRejectedValueOnce(new Error('no database'));
  const authenticate = authenticateByApiKey(findOwner, 60_000);
  await expect(authenticate(AUTHORIZATION)).rejects.toThrow('no database');
  await expect(authenticate(AUTHORIZATION)).resolves.toMatchObject({ project: API_PROJECT });
});
