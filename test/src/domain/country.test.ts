import { isCountry } from '../../../src/domain/country';

test.each(['NL', 'GB', 'US', 'CA', 'AQ', 'GR', 'TW', 'SS'])('%s is a country', (code) => {
  expect(isCountry(code)).toBe(true);
});

test.each(['XX', 'ZZ', 'UK', 'EU', 'XK', 'AA', 'QM', 'AN', 'SU', 'nl', 'NLD', 'N', '', 'NL '])(
  'rules 1.17: %j is none',
  (code) => {
    expect(isCountry(code)).toBe(false);
  },
);
