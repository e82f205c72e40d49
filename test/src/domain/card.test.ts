import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { number as cardNumber } from 'card-validator';
import fc from 'fast-check';
import { holdsCardNumber, isCardNumberInGroups, replaceCardNumbers } from '../../../src/domain/card';
import { RANDOM_TEXTS } from '../../support/domain';

/** One number for each way that brands group theirs; published test numbers, or made from a prefix. */
const CARDS = {
  visa: '4111111111111111',
  visa_of_19: '4000000000000000006',
  mastercard: '5544330000000037',
  mastercard_of_2: '2223000048400011',
  american_express: '378282246310005',
  diners_club: '30569309025904',
  discover: '6011111111111117',
  jcb: '3530111333300000',
  unionpay: '6212345678900000003',
  maestro: '6759649826438453',
};

const zeroOf = (zero: number) => (digits: string) =>
  digits
    .split('')
    .map((digit) => String.fromCodePoint(zero + Number(digit)))
    .join('');
/** As printed on a card: 4-6-5 and 4-6-4, else in fours. */
const groupsOf = (digits: string) =>
  digits.length < 16 ? [digits.slice(0, 4), digits.slice(4, 10), digits.slice(10)] : (digits.match(/\d{1,4}/g) ?? []);
const joinedBy = (separator: string) => (digits: string) => groupsOf(digits).join(separator);
const inPairs = (separator: string) => (digits: string) => (digits.match(/\d{1,2}/g) ?? []).join(separator);
const each = (between: string) => (digits: string) => digits.split('').join(between);

const DISGUISES: Record<string, (digits: string) => string> = {
  'in one run': (digits) => digits,
  'in a sentence': (digits) => `Paid with ${digits}.`,
  'before a line break': (digits) => `${digits}\n`,
  'between letters': (digits) => `order${digits}x`,
  'after order-': (digits) => `order-${digits}`,
  'after order_': (digits) => `order_${digits}_1`,
  'after +': (digits) => `+${digits}`,
  'after #': (digits) => `#${digits}`,
  'in quotes': (digits) => `"${digits}"`,
  'in typographic quotes': (digits) => `„${digits}“`,
  'in brackets': (digits) => `(${digits})`,
  'as JSON': (digits) => `{"pan":${digits},"cvc":"123"}`,
  'with expiry and code': (digits) => `${digits} 12/28 123`,
  'with decimals': (digits) => `${digits}.00`,
  'track 1': (digits) => `%B${digits}^DOE/JOHN^28121010000000000000?`,
  'track 2': (digits) => `;${digits}=28121010000000000000?`,
  'track 2 of a chip': (digits) => `${digits}D28121010000000000F`,
  'in a URL': (digits) => `https://shop.example/thanks?pan=${digits}&a=1`,
  'in the path of a URL': (digits) => `https://shop.example/${digits}/`,
  'in groups': joinedBy(' '),
  'in groups, with expiry and code': (digits) => `card ${joinedBy(' ')(digits)} 12/28 123`,
  'in groups, after a quantity': (digits) => `2 ${joinedBy(' ')(digits)}`,
  'in groups between letters': (digits) => `pan${joinedBy(' ')(digits)}exp`,
  'by hyphens': joinedBy('-'),
  'by spaced hyphens': joinedBy(' - '),
  'by en dashes': joinedBy('–'),
  'by minus signs': joinedBy('−'),
  'by dots': joinedBy('.'),
  'by middle dots': joinedBy('·'),
  'by slashes': joinedBy('/'),
  'by backslashes': joinedBy('\\'),
  'by underscores': joinedBy('_'),
  'by plus signs, as in a query': joinedBy('+'),
  'by asterisks': joinedBy('*'),
  'by tabs': joinedBy('\t'),
  'by line breaks': joinedBy('\n'),
  'by line breaks of Windows': joinedBy('\r\n'),
  'by line breaks as JSON writes them': joinedBy('\\n'),
  'by two spaces': joinedBy('  '),
  'by no-break spaces': joinedBy('\u00a0'),
  'by thin spaces': joinedBy('\u2009'),
  'by ideographic spaces': joinedBy('\u3000'),
  'by zero-width spaces': joinedBy('\u200b'),
  'by soft hyphens': joinedBy('\u00ad'),
  'by commas': joinedBy(','),
  'by commas and spaces': joinedBy(', '),
  'by semicolons': joinedBy(';'),
  'by colons': joinedBy(':'),
  'by colons, after a word': (digits) => `card:${groupsOf(digits).join(':')}`,
  'as an array of texts': (digits) => `{"pan":${JSON.stringify(groupsOf(digits))}}`,
  'in pairs': inPairs(' '),
  'in pairs by hyphens, with the expiry': (digits) => `${inPairs('-')(digits)} 12/30`,
  'in pairs by spaces, with the expiry and code': (digits) => `pan ${inPairs(' ')(digits)} 12/30 123`,
  'in single digits': each(' '),
  'in single digits by hyphens, in words': (digits) => `pay with ${each('-')(digits)} thanks`,
  'in single digits by commas': each(','),
  'in single digits by dots and spaces': each('. '),
  'by &nbsp;': joinedBy('&nbsp;'),
  'by &nbsp; that is escaped twice': joinedBy('&amp;nbsp;'),
  'by &#160;': joinedBy('&#160;'),
  'by &#xA0; and a space': joinedBy('&#xA0; '),
  'by &ensp;': joinedBy('&ensp;'),
  'by <br>': joinedBy('<br>'),
  'by <br/> and line breaks': joinedBy('<br/>\n'),
  'in cells of a table': (digits) => `<tr><td>${groupsOf(digits).join('</td>\n  <td class="n">')}</td></tr>`,
  'in numeric entities': (digits) => digits.replace(/\d/g, (digit) => `&#${48 + Number(digit)};`),
  'in hexadecimal entities': (digits) => digits.replace(/\d/g, (digit) => `&#x3${digit};`),
  'with the expiry directly after it': (digits) => (digits.length > 16 ? digits : `${digits}12/30`),
  'with the expiry as digits': (digits) => (digits.length > 16 ? digits : `${digits}1230`),
  'with expiry and code as digits': (digits) => (digits.length > 16 ? digits : `${digits}122030123`),
  'with the code directly after it': (digits) =>
    digits.length === 16 ? `${digits}123` : digits.startsWith('37') ? `${digits}1234` : digits,
  'in groups, with the expiry directly after it': (digits) =>
    digits.length > 16 ? digits : `${joinedBy(' ')(digits)}12/30 123`,
  'by percent-encoded spaces': joinedBy('%20'),
  'by spaces that are encoded twice': joinedBy('%2520'),
  'by percent-encoded no-break spaces': joinedBy('%C2%A0'),
  'by no-break spaces of Latin-1, percent-encoded': joinedBy('%A0'),
  'percent-encoded': (digits) =>
    digits
      .split('')
      .map((digit) => `%3${digit}`)
      .join(''),
  'percent-encoded twice': (digits) =>
    digits
      .split('')
      .map((digit) => `%253${digit}`)
      .join(''),
  'a zero-width space after each digit': each('\u200b'),
  'a joiner after each digit': each('\u200d'),
  'a byte order mark after each digit': each('\ufeff'),
  'a mark of direction before it': (digits) => `\u200e${digits}`,
  'a control character after each digit': each('\u0007'),
  'a variation selector after each digit': each('\ufe0f'),
  keycaps: each('\ufe0f\u20e3'),
  'full-width digits': zeroOf(0xff10),
  'full-width digits in groups': (digits) => groupsOf(digits).map(zeroOf(0xff10)).join('\u3000'),
  'Arabic digits': zeroOf(0x660),
  'Persian digits': zeroOf(0x6f0),
  'Devanagari digits': zeroOf(0x966),
  'Thai digits': zeroOf(0xe50),
  'mathematical digits': zeroOf(0x1d7d8),
  'superscript and plain digits': (digits) => digits.replaceAll('1', '¹').replaceAll('3', '³'),
  'circled digits': (digits) => digits.replaceAll('1', '①').replaceAll('6', '⑥'),
};

/** Forms of one length of number. */
const HALVES = [8, 6, 4].map((first): [string, Record<string, string>] => [
  `as ${first} and ${16 - first} digits`,
  Object.fromEntries(
    [' ', '-', '\u00a0', '&nbsp;', ' – '].map((separator) => {
      const { visa, mastercard } = CARDS;
      const halves = [visa, mastercard].map((digits) => digits.slice(0, first) + separator + digits.slice(first));
      return [`by ${JSON.stringify(separator)}`, `pan ${halves.join(' or ')}`];
    }),
  ),
]);

const TABLE: [disguise: string, texts: Record<string, string>][] = [
  ...Object.entries(DISGUISES).map(([disguise, write]): (typeof TABLE)[number] => [
    disguise,
    Object.fromEntries(Object.entries(CARDS).map(([brand, digits]) => [brand, write(digits)])),
  ]),
  ...HALVES,
];

test('the table has 800 texts and more', () => {
  expect(TABLE.flatMap(([, texts]) => Object.keys(texts)).length).toBeGreaterThan(800);
});

test.each(TABLE)('rules 15.6: %s: found and replaced', (_disguise, texts) => {
  for (const [brand, text] of Object.entries(texts)) {
    const replaced = replaceCardNumbers(text, '[card number]');
    const found = [holdsCardNumber(text), replaced.includes('[card number]'), holdsCardNumber(replaced)];
    expect([brand, ...found]).toEqual([brand, true, true, false]);
  }
});

test('500 texts of merchants: none refused or changed', () => {
  const texts = harmlessTexts();
  expect([
    texts.length,
    texts.filter((text) => holdsCardNumber(text) || replaceCardNumbers(text, '') !== text),
  ]).toEqual([500, []]);
});

test(`rules 15.5: ${RANDOM_TEXTS} UUIDs, tokens and digests, and as many articles: none refused`, () => {
  const refused: string[] = [];
  for (let i = 0; i < RANDOM_TEXTS; i += 1) {
    const uuid = randomUUID();
    const token = `vt_${randomBytes(18).toString('hex')}`;
    if (holdsCardNumber(token, { in_card_details: true })) refused.push(token);
    const article = String(randomInt(10 ** 13)).padStart(13, '0');
    const texts = [
      uuid,
      uuid.replaceAll('-', ''),
      `order_${uuid}`,
      article,
      randomBytes(12).toString('hex'),
      randomBytes(32).toString('hex'),
    ];
    refused.push(...texts.filter((text) => holdsCardNumber(text)));
  }
  expect(refused).toEqual([]);
});

test('prefix, length and check digit are those of the card-validator package', () => {
  const prefix = fc.constantFrom(...'1 2 3 4 5 6 8 34 36 50 56 60 62 2221 1800 506699'.split(' '));
  const anyDigits = fc.stringMatching(/^\d{11,19}$/);
  fc.assert(
    fc.property(prefix, anyDigits, (start, rest) => {
      const body = `${start}${rest}`.slice(0, 18);
      const numbers = Array.from({ length: 10 }, (_, last) => `${body}${last}`);
      const valid = numbers.filter((digits) => cardNumber(digits, { luhnValidateUnionPay: true }).isValid);
      const found = numbers.filter((digits) => holdsCardNumber(digits, { in_card_details: true }));
      // 18 and 19 digits may also be a shorter number with an expiry or a code (rules 15.6).
      expect(body.length < 17 ? found : found.filter((digits) => valid.includes(digits))).toEqual(valid);
    }),
    { seed: 1_989, numRuns: RANDOM_TEXTS / 12.5 },
  );
});

test.each([
  ['4111111111111112', 'a wrong check digit'],
  ['1234567890123452', 'no prefix of a brand'],
  ['41111111111111110000', 'part of a longer run'],
  ['6200000000000000001', 'a wrong check digit'],
  ['411111111111', 'too few digits'],
  ['411111******1111', 'masked'],
  ['1111 4111 1111 1111 1111 1111', 'part of a longer number in fours'],
  ['', 'nothing'],
])('%j is none: %s', (text) => {
  expect(holdsCardNumber(text)).toBe(false);
});

test.each([
  ['5901664064924', 'an EAN'],
  ['501234567896', 'a UPC'],
  ['5012-3456-7896', 'a UPC in groups'],
])('rules 15.2: %s (%s) is a card number in card details only', (text) => {
  expect([holdsCardNumber(text), holdsCardNumber(text, { in_card_details: true })]).toEqual([false, true]);
});

test.each<[boolean, string, unknown[]]>([
  [true, 'texts of four digits', ['4111', '1111', '1111', '1111']],
  [true, 'numbers of four digits', [4000, 1000, 9999, 1002]],
  [true, 'both', [4111, '1111', 1111, '1111']],
  [true, 'groups as on the card', ['3782', '822463', '10005']],
  [true, 'single digits as texts', Array.from(CARDS.visa_of_19)],
  [false, 'numbers in other groups', [3782, 822463, 10005]],
  [false, 'numbers of single digits, which are quantities', Array.from(CARDS.visa, Number)],
  [false, 'more digits than a card has', Array.from(`${CARDS.visa_of_19}1`)],
  [false, 'two halves', ['41111111', '11111111']],
  [false, 'a long group', ['4111111', '111', '111111']],
  [false, 'a text that is no number', ['4111', '1111', '1111', '1111', 'EUR']],
  [false, 'a wrong check digit', ['4111', '1111', '1111', '1112']],
  [false, 'other values', ['4111', '1111', '1111', '1111', null]],
  [false, 'nothing', []],
])('rules 15.6: %s that an array holds a card number: %s', (holds, _title, values) => {
  expect(isCardNumberInGroups(values, {})).toBe(holds);
});

test('rules 15.2: an array of 12 digits is a card number in card details only', () => {
  const values = Array.from('501234567896');
  expect([isCardNumberInGroups(values, {}), isCardNumberInGroups(values, { in_card_details: true })]).toEqual([
    false,
    true,
  ]);
});

test('of several card numbers each is replaced, in whatever order and form they are written', () => {
  expect(replaceCardNumbers('a 378282246310005 b 4111-1111-1111-1111 c 4111 1111 1111 1111 d', '…')).toBe(
    'a … b … c … d',
  );
  expect(replaceCardNumbers('no number', '…')).toBe('no number');
});

test('what stands around a card number stays', () => {
  expect(
    replaceCardNumbers('é 4111 1111 1111 1111, ４１１１１１１１１１１１１１１１ and%20%34%3111111111111111!', '…'),
  ).toBe('é …, … and…!');
});

/** 500 texts with numbers that merchants send and that are no card numbers. The same ones at each run. */
function harmlessTexts(): string[] {
  const next = seeded();
  return Array.from({ length: 500 }, (_, i) => KINDS[i % KINDS.length]!(next));
}

/** A whole number from `from` to `to`. */
type Next = (from: number, to: number) => number;

/** Numbers that look random, in a fixed order (a linear congruential generator). */
function seeded(): Next {
  let state = 20_260_115;
  return (from, to) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return from + Math.floor((state / 2 ** 31) * (to - from + 1));
  };
}

const digits = (next: Next, count: number) => Array.from({ length: count }, () => next(0, 9)).join('');
const two = (value: number) => String(value).padStart(2, '0');
const inFours = (text: string) => (text.match(/.{1,4}/g) ?? []).join(' ');
const hex = (next: Next, count: number) => Array.from({ length: count }, () => next(0, 15).toString(16)).join('');

/** With the check digit of EAN and UPC. */
function article(next: Next, start: string, length: number): string {
  const body = start + digits(next, length - 1 - start.length);
  const sum = body
    .split('')
    .reverse()
    .reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 3 : 1), 0);
  return `${body}${(10 - (sum % 10)) % 10}`;
}

function iban(country: string, account: string): string {
  const number = `${account}${country}00`.replace(/[A-Z]/g, (letter) => String(parseInt(letter, 36)));
  return `${country}${two(98 - Number(BigInt(number) % 97n))}${account}`;
}
const IBANS: ((next: Next) => string)[] = [
  (next) => iban('BE', digits(next, 12)),
  (next) => iban('NO', digits(next, 11)),
  (next) => iban('NL', `ABNA${digits(next, 10)}`),
  (next) => iban('DE', digits(next, 18)),
  (next) => iban('GB', `NWBK${digits(next, 14)}`),
  (next) => iban('FR', digits(next, 23)),
  (next) => iban('ES', digits(next, 20)),
  (next) => iban('IT', `X${digits(next, 22)}`),
  (next) => iban('AT', digits(next, 16)),
  (next) => iban('PL', digits(next, 24)),
  (next) => iban('LU', digits(next, 16)),
  (next) => iban('DK', digits(next, 14)),
];
const anIban = (next: Next) => IBANS[next(0, IBANS.length - 1)]!(next);

const date = (next: Next) => [String(next(2024, 2031)), two(next(1, 12)), two(next(1, 28))] as const;
const time = (next: Next) => [two(next(0, 23)), two(next(0, 59)), two(next(0, 59))] as const;
/** Milliseconds, 2024 to 2026. */
const epoch = (next: Next) => `17${next(0, 9)}${digits(next, 10)}`;

const KINDS: ((next: Next) => string)[] = [
  // Articles.
  (next) => article(next, '', 13),
  (next) => `EAN ${article(next, '50', 13)}, ${article(next, '59', 13)}`,
  (next) => `${article(next, '67', 13)}\n${article(next, '63', 13)}`,
  (next) => article(next, '', 12),
  (next) => `UPC:${article(next, '6', 12)}`,
  (next) => article(next, '', 8),
  (next) => `978-${next(0, 9)}-${digits(next, 4)}-${digits(next, 4)}-${next(0, 9)}`,
  (next) => `Articles ${next(4000, 6999)}, ${next(4000, 6999)}, ${next(4000, 6999)}, ${next(4000, 6999)}`,
  (next) => `sizes=${next(3000, 6999)},${next(3000, 6999)},${next(3000, 6999)},${next(3000, 6999)}`,
  (next) => `{"lines":[${next(4000, 6999)},${next(4000, 6999)},${next(4000, 6999)},${next(4000, 6999)}]}`,
  (next) => `${next(1, 9)} x SKU ${digits(next, 6)}-${digits(next, 4)} (${next(1, 99)}.${two(next(0, 99))} EUR)`,
  // Phones.
  (next) => `+31 6 ${digits(next, 8)}`,
  (next) => `+31 20 ${digits(next, 3)} ${digits(next, 4)}`,
  (next) => `+49 ${next(151, 179)} ${digits(next, 8)}`,
  (next) => `+4915${digits(next, 9)}`,
  (next) => `+44 7${digits(next, 3)} ${digits(next, 6)}`,
  (next) => `+33 6 ${two(next(0, 99))} ${two(next(0, 99))} ${two(next(0, 99))} ${two(next(0, 99))}`,
  (next) => `+1 (${next(201, 989)}) ${digits(next, 3)}-${digits(next, 4)}`,
  (next) => `+6581${digits(next, 6)} / +6591${digits(next, 6)}`,
  (next) => `0031612${digits(next, 6)}`,
  (next) => `50${digits(next, 10)}`,
  (next) => `06 ${digits(next, 8)}, 06 ${digits(next, 8)}`,
  // Accounts.
  anIban,
  (next) => inFours(anIban(next)),
  (next) => `Refund to ${inFours(anIban(next))} BIC ABNANL2A`,
  (next) => anIban(next).toLowerCase(),
  (next) => `IBAN:${anIban(next)}`,
  (next) => `+++${digits(next, 3)}/${digits(next, 4)}/${digits(next, 5)}+++`,
  (next) => `NL${digits(next, 9)}B${two(next(1, 99))}`,
  // Orders and invoices.
  (next) => `ORD-${next(2024, 2031)}-${digits(next, 6)}`,
  (next) => `${next(2024, 2031)}/${digits(next, 4)}/${digits(next, 4)}`,
  (next) => `#${digits(next, 10)}`,
  (next) => `INV ${date(next).join('')} ${digits(next, 4)}`,
  (next) => `order_${digits(next, 12)}`,
  (next) => `100${digits(next, 12)}`,
  (next) => `${digits(next, 20)}`,
  (next) => `cart ${next(1, 99)} of ${next(100, 999)}, table ${next(1, 9)}`,
  (next) => `4-4-4-4 ${next(1, 9)} 41 1111 111 111`,
  // Times.
  (next) => `${date(next).join('-')}T${time(next).join(':')}.${digits(next, 6)}+00:00`,
  (next) => `${date(next).join('')}${time(next).join('')}`,
  (next) => `${date(next).join('')}${time(next).join('')}${digits(next, 3)}`,
  (next) => `${date(next).join('-')} ${time(next).join(':')} - ${date(next).join('-')} ${time(next).join(':')}`,
  (next) => epoch(next),
  (next) => `${epoch(next)}${digits(next, 3)}`,
  (next) => `${epoch(next)}${digits(next, 6)}`,
  (next) => `${next(2019, 2024)} ${next(2019, 2024)} ${next(2019, 2024)} ${next(2019, 2024)}`,
  // Parcels.
  (next) => `1Z${hex(next, 6).toUpperCase()}${digits(next, 10)}`,
  (next) => inFours(`9400${digits(next, 18)}`),
  (next) => `94${digits(next, 20)}`,
  (next) => `7${digits(next, 11)}`,
  (next) => `JJD0${digits(next, 18)}`,
  (next) => `0034${digits(next, 16)}`,
  (next) => `3SABCD${digits(next, 9)}`,
  (next) => `RR${digits(next, 9)}NL`,
  (next) => `https://track.example/?id=05${digits(next, 12)}&zip=${digits(next, 4)}`,
  // Ids and addresses of machines.
  (next) => `${hex(next, 8)}-${hex(next, 4)}-4${hex(next, 3)}-a${hex(next, 3)}-${hex(next, 12)}`,
  (next) => `${digits(next, 8)}-${digits(next, 4)}-4${digits(next, 3)}-8${digits(next, 3)}-${digits(next, 12)}`,
  (next) => `order_${digits(next, 8)}-${digits(next, 4)}-4${digits(next, 3)}-8${digits(next, 3)}-${digits(next, 12)}`,
  (next) => `a${digits(next, 11)}4${digits(next, 3)}8${digits(next, 15)}`,
  (next) => `c${digits(next, 18)}b${digits(next, 19)}e`,
  (next) => `sha256:${digits(next, 18)}a${digits(next, 17)}b${digits(next, 17)}c${digits(next, 9)}`,
  (next) => `2600:1700:${digits(next, 4)}:${digits(next, 4)}:${digits(next, 4)}:${digits(next, 4)}::1`,
  (next) => `${next(1, 223)}.${next(0, 255)}.${next(0, 255)}.${next(0, 255)}`,
  (next) => `52.${digits(next, 6)}, 4.${digits(next, 6)}`,
  (next) => `0.${digits(next, 12)}`,
  (next) => `Mozilla/5.0 (Linux; Android 14) Chrome/1${digits(next, 2)}.0.${digits(next, 4)}.${digits(next, 3)}`,
];
