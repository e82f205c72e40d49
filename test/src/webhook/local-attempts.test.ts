import { LocalAttempts } from '../../../src/webhook/local-attempts';

const merchant = { project_id: 'p', url: 'https://shop.example/hook' };
const other = { project_id: 'q', url: 'https://other.example/hook' };

/** Begins as many attempts as it may, up to 100. */
function beginAll(local: LocalAttempts, endpoint: typeof merchant): (() => void)[] {
  return Array.from({ length: 100 }, () => local.begin(endpoint)).filter((end) => end !== undefined);
}

test('an endpoint of which nothing is known gets two at once; ended, they make room for others', () => {
  const local = new LocalAttempts();
  const ends = beginAll(local, merchant);
  expect(ends).toHaveLength(2);
  for (const end of ends) end();
  expect(beginAll(local, merchant)).toHaveLength(2);
});

test('rules 13.9: one that answers at once gets twenty, one that is slow none, until it answers at once again', () => {
  const local = new LocalAttempts();
  local.learn(merchant, true);
  expect(beginAll(local, merchant)).toHaveLength(0);
  local.learn(merchant, false);
  expect(beginAll(local, merchant)).toHaveLength(20);
});

test('a project gets no more by using many hosts, and takes nothing from another project', () => {
  const local = new LocalAttempts();
  const hosts = Array.from({ length: 50 }, (_, i) => ({ project_id: 'p', url: `https://host-${i}.example/` }));
  expect(hosts.map((host) => local.begin(host)).filter((end) => end !== undefined)).toHaveLength(2);
  expect(beginAll(local, other)).toHaveLength(2);
});

test('attempts of one project to a host do not affect those of another project', () => {
  const local = new LocalAttempts();
  local.learn({ ...other, url: merchant.url }, true);
  expect(beginAll(local, merchant)).toHaveLength(2);
});

test('all paths of a host are one endpoint', () => {
  const local = new LocalAttempts();
  local.learn({ ...merchant, url: 'https://shop.example/another?order=1' }, true);
  expect(beginAll(local, merchant)).toHaveLength(0);
});
