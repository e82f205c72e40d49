// The package's index loads the subdivisions of all countries too, 360 KB.
import { iso31661 } from 'iso-3166/1.js';

const COUNTRIES: ReadonlySet<string> = new Set(iso31661.map(({ alpha2 }) => alpha2));

/** Whether a code is a country's: ISO 3166-1 alpha-2, in capitals. Reserved codes, such as UK and EU, are not. */
export function isCountry(code: string): boolean {
  return COUNTRIES.has(code);
}
