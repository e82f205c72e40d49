/** 500 texts with numbers that merchants send and that are no card numbers. The same ones at each run. */
export function harmlessTexts(): string[] {
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
