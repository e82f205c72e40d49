import fc from 'fast-check';

const digits = (most: number) => fc.stringMatching(new RegExp(`^\\d{1,${most}}$`));
const whole = digits(25).map((text) => text.replace(/^0+(?=\d)/, ''));
const exponent = fc
  .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 400 })))
  .map((parts) => parts.join(''));
const composed = fc
  .tuple(
    fc.constantFrom('', '-'),
    whole,
    fc.option(
      digits(25).map((text) => `.${text}`),
      { nil: '' },
    ),
    fc.option(exponent, { nil: '' }),
  )
  .map((parts) => parts.join(''));

/** Numbers as JSON writes them: of any form, doubles in 1 to 21 digits, and those beside the ends of exactness. */
export const numberLiteral = fc.oneof(
  composed,
  fc
    .tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: 1, max: 21 }))
    .map(([value, most]) => value.toPrecision(most)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => String(value)),
  fc
    .tuple(
      fc.constantFrom(2 ** 50, 2 ** 51, 2 ** 52, 2 ** 53, 2 ** 54),
      fc.integer({ min: -9, max: 9 }),
      fc.option(digits(4), { nil: undefined }),
    )
    .map(([power, more, fraction]) => `${power + more}${fraction === undefined ? '' : `.${fraction}`}`),
);

/** The exact value of a number in JSON. */
export function rationalOf(literal: string): { numerator: bigint; denominator: bigint } {
  const [, sign = '', before = '', after = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const shift = BigInt(Number(power) - after.length);
  const value = BigInt(before + after) * (sign === '-' ? -1n : 1n);
  return shift < 0n
    ? { numerator: value, denominator: 10n ** -shift }
    : { numerator: value * 10n ** shift, denominator: 1n };
}

/** Whether two numbers in JSON have the same value. */
export function areEqual(left: string, right: string): boolean {
  const [a, b] = [rationalOf(left), rationalOf(right)];
  return a.numerator * b.denominator === b.numerator * a.denominator;
}
