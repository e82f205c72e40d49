import fc from 'fast-check';
import { parseJson } from '../../../src/contract/json';
import { refundRequestSchema } from '../../../src/contract/order';
import { parseRequest } from '../../../src/contract/request';
import { CURRENCY_CODES, decimalAmount, formatAmount, minorUnits } from '../../../src/domain/currency';
import { equalTo } from '../../../src/domain/query/values';
import { ServiceError } from '../../../src/errors';
import { numberLiteral, rationalOf } from './number-literals';
import { property, valueOrRefused, same, type Property } from './parser';

const amount = fc.oneof(
  fc.nat({ max: 100_000 }),
  fc.maxSafeNat(),
  fc.nat({ max: 1_000 }).map((less) => Number.MAX_SAFE_INTEGER - less),
);
const currency = fc.constantFrom(...CURRENCY_CODES);
const locale = fc.constantFrom('en', 'de', 'nl_NL', 'fr', 'es', 'de-CH', 'en-IN', 'sv', 'ja', 'pt-BR');

/** A body with the literal as its amount, as a route reads it. */
const readAmount = (literal: string) =>
  valueOrRefused(
    () =>
      parseRequest({ body: refundRequestSchema }, { params: {}, query: {}, body: parseJson(`{"amount": ${literal}}`) })
        .body.amount,
    ServiceError,
  );

export const AMOUNTS: Property[] = [
  property(
    'amounts: a number in JSON is taken if and only if it is whole and within 2^53-1',
    numberLiteral,
    (literal) => {
      const { numerator, denominator } = rationalOf(literal);
      const isWhole = denominator === 1n || numerator % denominator === 0n;
      const value = numerator / denominator;
      const isAmount = isWhole && value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER);
      const read = readAmount(literal);
      // An exact number may be refused as a card's number, or for more digits than a double is sure to keep.
      if (read !== 'refused') same(literal, isAmount && BigInt(read), isAmount && value);
      if (read !== 'refused' && !isAmount) throw new Error(`${literal} is read as the amount ${read}`);
    },
  ),
  property('amounts: whole numbers of minor units are taken as they are', amount, (minor) => {
    const read = readAmount(String(minor));
    // Card numbers are refused anywhere.
    if (read !== 'refused' || minor < 1e13) same(String(minor), read, minor);
  }),
  property('amounts: other values are refused with a ValidationError', fc.json(), (json) => {
    const value: unknown = JSON.parse(json);
    const read = readAmount(json);
    if (read !== 'refused') same(json, read, value);
    if (read !== 'refused' && !Number.isSafeInteger(read)) throw new Error(`${json} is read as the amount ${read}`);
  }),
  property(
    'amounts: main units have the digits of the currency and return to the same minor units',
    fc.tuple(amount, currency),
    ([minor, code]) => {
      const text = decimalAmount(minor, code);
      const digits = minorUnits(code);
      same(`${text} ${code}`, /^\d+(?:\.(\d+))?$/.exec(text)?.[1]?.length ?? 0, digits);
      same(`${text} ${code}`, BigInt(text.replace('.', '')), BigInt(minor));
      // A query for the text is one for the number that reports compare.
      same(`query ${text}`, equalTo('transaction.amount_with_decimals', text), {
        op: 'equals',
        field: 'transaction.amount_with_decimals',
        value: Number(text),
      });
    },
  ),
  property(
    'amounts: in every notation the digits are those of the amount',
    fc.tuple(amount, currency, locale),
    ([minor, code, tag]) => {
      const digits = formatAmount(minor, code, tag).replace(/[^0-9]/g, '');
      same(`${minor} ${code} in ${tag}`, BigInt(digits), BigInt(minor));
      same(`digits of ${code}`, digits.length, Math.max(String(minor).length, minorUnits(code) + 1));
    },
  ),
];
