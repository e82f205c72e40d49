/** A number in a JSON text that JavaScript cannot represent exactly. */
export class InexactNumber {
  constructor(
    /** As it is written in the text. */
    readonly source: string,
  ) {}
}

/** Digits that make every double distinct. PHP writes as many, so that 0.1 arrives as 0.10000000000000001. */
const SIGNIFICANT_DIGITS_MAX = 17;
/** Smaller numbers have fewer digits in a double. */
const DOUBLE_MIN = 2 ** -1022;
/** Characters of the longest double that is written without an exponent, and some. */
const NUMBER_LENGTH_MAX = 400;

/** The texts and numbers of a JSON text. */
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;
const LONG_OR_EXPONENTIAL = /[\d.]{16}|\d[eE]/;

/**
 * Reads JSON as JSON.parse does, with an InexactNumber for every number that would change. Throws a SyntaxError for
 * invalid JSON, and a RangeError for an inexact number that is nested thousands of levels deep.
 */
export function parseJson(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  if (!LONG_OR_EXPONENTIAL.test(text)) return parsed;
  // JSON.parse tells its reviver how a number was written from Node.js 22 on only: the text says it, in place of the
  // number.
  const mark = crypto.randomUUID();
  const marked = text.replace(TEXT_OR_NUMBER, (found) =>
    found.startsWith('"') || isExact(found) ? found : `"${mark}${found}"`,
  );
  if (marked === text) return parsed;
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? new InexactNumber(value.slice(mark.length)) : value,
  );
}

/** Whether a number is returned as it was sent, or as the same double in fewer digits. */
function isExact(source: string): boolean {
  if (source.length > NUMBER_LENGTH_MAX) return false;
  const value = Number(source);
  if (!Number.isFinite(value)) return false;
  const [sent, returned] = [decimalOf(source), decimalOf(String(value))];
  if (sent.digits === returned.digits && sent.exponent === returned.exponent) return true;
  // A whole number is an identifier, a count or an amount: there the last digit matters, and no fraction may become
  // one.
  const isWhole = /^-?\d+(?:\.0+)?$/.test(source);
  const becomesWhole = Number.isInteger(value) && sent.exponent < 0;
  return !isWhole && !becomesWhole && sent.digits.length <= SIGNIFICANT_DIGITS_MAX && Math.abs(value) >= DOUBLE_MIN;
}

/** A decimal number as digits without zeros at either end, and the power of ten they are multiplied by. */
function decimalOf(text: string): { digits: string; exponent: number } {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  let end = all.length;
  // Not by a pattern, which begins anew at each zero within.
  while (all[end - 1] === '0') end -= 1;
  const digits = all.slice(0, end);
  if (digits === '') return { digits, exponent: 0 };
  return { digits, exponent: Number(exponent) - fraction.length + all.length - digits.length };
}
