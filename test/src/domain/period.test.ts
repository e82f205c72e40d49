import { listPeriod } from '../../../src/domain/period';

const now = Date.parse('2026-03-15T12:00:00Z');
const shown = (result: ReturnType<typeof listPeriod>) =>
  'problem' in result
    ? `${result.parameter}: ${result.problem}`
    : `${new Date(result.since).toISOString()} to ${new Date(result.until).toISOString()}`;

test.each([
  [
    'nothing: also what an advanced sandbox clock dates later',
    {},
    '2026-02-12T12:00:00.000Z to 9999-01-01T00:00:00.000Z',
  ],
  ['a start', { created_since: '2026-03-15T10:00:00Z' }, '2026-03-15T10:00:00.000Z to 2026-04-15T10:00:00.000Z'],
  ['an end', { created_until: '2026-02-01T00:00:00+01:00' }, '2025-12-31T23:00:00.000Z to 2026-01-31T23:00:00.000Z'],
  [
    'both, as an answer writes them',
    { created_since: '2026-03-01T00:00:05.433502+00:00', created_until: '2026-03-02T00:00:00.000000+00:00' },
    '2026-03-01T00:00:05.433Z to 2026-03-02T00:00:00.000Z',
  ],
  [
    'the same instant twice',
    { created_since: '2026-03-01T00:00:00Z', created_until: '2026-03-01T00:00:00Z' },
    '2026-03-01T00:00:00.000Z to 2026-03-01T00:00:00.000Z',
  ],
  [
    '31 days',
    { created_since: '2026-01-01T00:00:00Z', created_until: '2026-02-01T00:00:00Z' },
    '2026-01-01T00:00:00.000Z to 2026-02-01T00:00:00.000Z',
  ],
  [
    '31 days and a millisecond',
    { created_since: '2026-01-01T00:00:00Z', created_until: '2026-02-01T00:00:00.001Z' },
    'created_since: Lies more than 31 days before created_until.',
  ],
  [
    'a start long ago',
    { created_since: '2020-01-01T00:00:00Z' },
    '2020-01-01T00:00:00.000Z to 2020-02-01T00:00:00.000Z',
  ],
  [
    'an end before the start',
    { created_since: '2026-02-01T00:00:00Z', created_until: '2026-01-31T00:00:00Z' },
    'created_until: Lies before created_since.',
  ],
  [
    'the first year there is',
    { created_since: '0000-01-01T00:00:00Z', created_until: '0000-01-02T00:00:00Z' },
    '1970-01-01T00:00:00.000Z to 1970-01-01T00:00:00.000Z',
  ],
  [
    'the last one',
    { created_since: '9999-12-30T00:00:00Z', created_until: '9999-12-31T23:59:59-23:00' },
    '9999-01-01T00:00:00.000Z to 9999-01-01T00:00:00.000Z',
  ],
])('rules 5.8: %s', (_title, parameters, result) => {
  expect(shown(listPeriod({ ...parameters, now }))).toBe(result);
});
