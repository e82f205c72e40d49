import { readAttempt, readCard, fieldErrorOf } from '../../../api/page/card-form';
import { textsFor } from '../../../api/page/languages';

const { errors: TEXTS } = textsFor(['en']).texts;
const GOOD = {
  number: '4111 1111 1111 1111',
  card_expiry: '12 / 34',
  security_code: '123',
  cardholder_name: 'Ada Lovelace',
};
const PUBLISHED = ['4111111111111105'];

const read = (fields: Record<string, unknown>) => readCard({ ...GOOD, ...fields }, TEXTS, PUBLISHED);

test('a card as people write it becomes one as the vault wants it', () => {
  expect(read({ number: ' 4111-1111 1111 1111 ', cardholder_name: ' Ada Lovelace ' })).toEqual({
    card: { number: '4111111111111111', card_expiry: '122034', security_code: '123', cardholder_name: 'Ada Lovelace' },
  });
});

test.each([
  ['12/34', '122034'],
  ['12 / 34', '122034'],
  ['12/2034', '122034'],
  ['1234', '122034'],
  ['1/34', '012034'],
  ['2034-12', '122034'],
  ['12 / /34', '122034'],
  ['12-34', '122034'],
  ['12.34', '122034'],
  // Rules 17.2: any in the future.
  ['12/99', '122099'],
])('expiry %s → %s', (card_expiry, expected) => {
  expect(read({ card_expiry })).toMatchObject({ card: { card_expiry: expected } });
});

test.each<[string, Record<string, unknown>, Record<string, string>]>([
  ['no number', { number: '' }, { number: TEXTS.number_missing }],
  ['a wrong check digit', { number: '4111111111111112' }, { number: TEXTS.number_wrong }],
  ['too short', { number: '411111' }, { number: TEXTS.number_wrong }],
  ['letters', { number: '4111x11111111111' }, { number: TEXTS.number_wrong }],
  ['a field that came twice', { number: ['4111111111111111', '4111111111111111'] }, { number: TEXTS.number_missing }],
  ['no expiry', { card_expiry: ' ' }, { card_expiry: TEXTS.expiry_missing }],
  ['no month', { card_expiry: '13/34' }, { card_expiry: TEXTS.expiry_wrong }],
  ['a month that was', { card_expiry: '01/20' }, { card_expiry: TEXTS.expiry_past }],
  ['no code', { security_code: '' }, { security_code: TEXTS.code_missing }],
  ['a code of another length', { security_code: '1234' }, { security_code: TEXTS.code_wrong(3) }],
  [
    'the code of another brand',
    { number: '378282246310005', security_code: '123' },
    { security_code: TEXTS.code_wrong(4) },
  ],
  ['no name', { cardholder_name: '' }, { cardholder_name: TEXTS.name_missing }],
  ['the number as name', { cardholder_name: '4111 1111 1111 1111' }, { cardholder_name: TEXTS.name_wrong }],
  ['the number in dots as name', { cardholder_name: '4111.1111.1111.1111' }, { cardholder_name: TEXTS.name_wrong }],
  [
    'the number in digits of another script as name',
    { cardholder_name: '４１１１１１１１１１１１１１１１' },
    { cardholder_name: TEXTS.name_wrong },
  ],
  ['a character that no text holds', { cardholder_name: 'Ada\0Lovelace' }, { cardholder_name: TEXTS.name_wrong }],
  ['the number within the name', { cardholder_name: 'Ada 4111111111111111' }, { cardholder_name: TEXTS.name_wrong }],
])('%s is told by its field', (_title, fields, errors) => {
  expect(read(fields)).toMatchObject({ errors });
});

test('a form without any field names all four', () => {
  expect(Object.keys((readCard(undefined, TEXTS, []) as { errors: object }).errors)).toEqual([
    'number',
    'card_expiry',
    'security_code',
    'cardholder_name',
  ]);
});

test('published test cards count whatever their check digit says, others do not', () => {
  expect(read({ number: '4111111111111105' })).toHaveProperty('card');
  expect(readCard({ ...GOOD, number: '4111111111111105' }, TEXTS, [])).toHaveProperty('errors');
  expect(readCard({ ...GOOD, number: '4111111111111105' }, TEXTS, undefined)).toHaveProperty('card');
  expect(readCard({ ...GOOD, number: '411111' }, TEXTS, undefined)).toHaveProperty('errors');
});

test('the form shown again holds the name, never number or code', () => {
  const again = JSON.stringify(read({ number: '4111111111111112', security_code: '98765' }));
  expect(again).toContain('Ada Lovelace');
  expect(again).not.toMatch(/4111|98765/);
  for (const cardholder_name of ['Ada 4111-1111', 'Ada 4111.1111', 'Ada 4111 / 1111']) {
    expect(JSON.stringify(read({ cardholder_name }))).not.toMatch(/4111/);
  }
});

test.each([
  ['1', 1],
  ['5', 5],
  ['0', undefined],
  ['1.5', undefined],
  ['x', undefined],
  [['1', '2'], undefined],
])('attempt %p → %p', (attempt, expected) => {
  expect(readAttempt({ attempt })).toBe(expected);
});

test.each([
  ['card_expiry', { card_expiry: TEXTS.expiry_past }],
  ['number', { number: TEXTS.number_unusable }],
  ['whatever', { number: TEXTS.number_unusable }],
])('the processor’s refusal of %s is told by a field', (field, expected) => {
  expect(fieldErrorOf(field, TEXTS)).toEqual(expected);
});
