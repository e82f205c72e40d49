import { cardholderName, cvv, expirationDate, number as cardNumber } from 'card-validator';
import { z } from 'zod';
import type { VaultCard } from '../../src/processor/wire';
import type { Texts } from './languages';

/** The fields a customer fills in, in the order of the form; named as the vault names them. */
export const CARD_FIELDS = ['number', 'card_expiry', 'security_code', 'cardholder_name'] as const;
export type CardField = (typeof CARD_FIELDS)[number];

/** Error texts by field. */
export type FieldErrors = Partial<Record<CardField, string>>;
/** A card as it is sent to the vault. */
export type Card = Pick<VaultCard, CardField> & { cardholder_name: string };

/** The form as typed: a card to vault, or the errors by field and the name that may be shown again. */
export type ReadCard = { card: Card } | { errors: FieldErrors; cardholder_name: string };

const field = z.string().trim().max(255).catch('');
const formSchema = z.object({ number: field, card_expiry: field, security_code: field, cardholder_name: field });

/**
 * Reads the card form. Number and code are in `card` and nowhere else: neither messages nor the name that is shown
 * again can hold them. `testNumbers`: published numbers, accepted even with a wrong check digit; undefined while the
 * processor has not told them: then it decides about check digits.
 */
export function readCard(body: unknown, texts: Texts['errors'], testNumbers: readonly string[] | undefined): ReadCard {
  const typed = formSchema.parse(body ?? {});
  const number = typed.number.replace(/[\s-]/g, '');
  const checked = cardNumber(number, { skipLuhnValidation: testNumbers?.includes(number) ?? true });
  const expiry = readExpiry(typed.card_expiry, texts);
  const nameProblem = problemOfName(typed.cardholder_name, texts);
  const errors: FieldErrors = {
    ...problem('number', number === '' ? texts.number_missing : checked.isValid ? undefined : texts.number_wrong),
    ...problem('card_expiry', expiry.problem),
    ...problem('security_code', problemOfCode(typed.security_code, checked.card?.code.size, texts)),
    ...problem('cardholder_name', nameProblem),
  };
  const cardholder_name = readName(body);
  if (Object.keys(errors).length > 0) return { errors, cardholder_name };
  return { card: { number, card_expiry: expiry.card_expiry, security_code: typed.security_code, cardholder_name } };
}

/** The name that may be shown again; empty where it holds a number, or the form has no name. */
export function readName(body: unknown): string {
  const { cardholder_name } = formSchema.parse(body ?? {});
  return holdsNumber(cardholder_name) ? '' : cardholder_name;
}

/** The number of the attempt that the form was made for; `undefined` when the form is not ours. */
export function readAttempt(body: unknown): number | undefined {
  return z.object({ attempt: z.coerce.number().int().min(1).max(25) }).safeParse(body).data?.attempt;
}

/** The processor's refusal of a card, by the field of the form it is about. */
export function fieldErrorOf(name: string, texts: Texts['errors']): FieldErrors {
  const about = CARD_FIELDS.find((one) => one === name) ?? 'number';
  const words = {
    number: texts.number_unusable,
    card_expiry: texts.expiry_past,
    security_code: texts.code_wrong(3),
    cardholder_name: texts.name_wrong,
  };
  return { [about]: words[about] };
}

function problem(name: CardField, text: string | undefined): FieldErrors {
  return text === undefined ? {} : { [name]: text };
}

/** A test card may have any expiry in the future (rules 17.2); without this the package allows 19 years. */
const YEARS_MAX = 100;

function readExpiry(text: string, texts: Texts['errors']): { card_expiry: string; problem?: string } {
  if (text === '') return { card_expiry: '', problem: texts.expiry_missing };
  // The page writes the slash; customers write it too, or a dash or point.
  const separated = text.replace(/^(\d{1,2})\s*[/.-][\s/.-]*(?=\d)/, '$1/');
  const { isValid, month, year } = expirationDate(separated, YEARS_MAX);
  if (isValid && month !== null && year !== null) {
    return { card_expiry: `${month.padStart(2, '0')}${year.length === 2 ? '20' : ''}${year}` };
  }
  return { card_expiry: '', problem: isPast(separated) ? texts.expiry_past : texts.expiry_wrong };
}

/** Whether the text is a month in the past, which gets another message than a text that is no month. */
function isPast(text: string): boolean {
  const [, month, year] = /^(0?[1-9]|1[0-2])\s*[/-]\s*(?:20)?(\d\d)$/.exec(text) ?? [];
  if (month === undefined || year === undefined) return false;
  return Date.UTC(2000 + Number(year), Number(month)) < Date.now();
}

function problemOfCode(code: string, size: number | undefined, texts: Texts['errors']): string | undefined {
  if (code === '') return texts.code_missing;
  return cvv(code, size ?? [3, 4]).isValid ? undefined : texts.code_wrong(size ?? 3);
}

function problemOfName(name: string, texts: Texts['errors']): string | undefined {
  if (name === '') return texts.name_missing;
  return cardholderName(name).isValid && !holdsNumber(name) && !/\p{Cc}/u.test(name) ? undefined : texts.name_wrong;
}

/** A card number typed into the wrong field, whole or in part, must not be shown again either. */
function holdsNumber(text: string): boolean {
  return /\p{Nd}(?:[^\p{L}\p{N}]{0,3}\p{Nd}){5,}/u.test(text);
}
