import type { RequestHandler } from 'express';
import { transactionId } from '../../src/ids';
import { invalid, type ServiceError } from '../../src/errors';
import type { VaultedCard } from '../../src/processor/wire';
import type { SubmitPaymentInput } from '../../workflows/messages';
import { notAfter } from '../orders';
import { takeAttempt, type AttemptForm } from './attempt-form';
import { CARD_FIELDS, readCard, refusalOf, type FieldErrors } from './card-form';
import type { Doors } from './doors';
import { firstAttemptTerms } from './first-attempt-terms';
import { CREDIT_CARD } from './methods';
import { readerOf } from './reader';

/** Handles the card form: the card goes to the processor's vault, and only its token goes on. */
export function payByCard(doors: Doors): RequestHandler {
  const { services, show, testCards } = doors;
  const { orders, processor } = services;
  return takeAttempt(doors, () => CREDIT_CARD, async (form) => {
    const { request, response, order, deadline_at } = form;
    const { errors: words } = readerOf(request, order).texts;
    const testNumbers = order.is_test ? (await testCards()).map(({ number }) => number) : [];
    const read = readCard(request.body, words, testNumbers);
    const again = async (errors: FieldErrors, cardholder_name: string): Promise<undefined> => {
      await show(request, response, order, { status: 400, after_form: true, refused: firstOf(errors), errors, cardholder_name });
    };
    if (!('card' in read)) return await again(read.errors, read.cardholder_name);
    const { card } = read;

    const vaulted = await processor.vaultCard({ project_id: order.project_id, is_test: order.is_test, ...card });
    if (!vaulted.usable) return await again(refusalOf(vaulted.field, words), card.cardholder_name);
    const { usable: _, ...token } = vaulted;
    return await orders.pay(order.id, paymentOf(form, token), deadline_at);
  });
}

function firstOf(errors: FieldErrors): ServiceError | undefined {
  const name = CARD_FIELDS.find((one) => errors[one] !== undefined);
  return name && invalid(name, errors[name] ?? '');
}

/** The charge that a form asks for, with a card of the processor's vault. */
export function paymentOf({ order, attempt, payment_method, deadline_at }: AttemptForm, { brand, ...card }: VaultedCard): SubmitPaymentInput {
  const { fields, payment_method_details } = firstAttemptTerms(order);
  return {
    project_id: order.project_id,
    is_test: order.is_test,
    transaction: {
      ...fields,
      id: transactionId(order.id, attempt),
      attempt,
      payment_method,
      payment_method_brand: brand,
      payment_method_details: { ...payment_method_details, ...card },
    },
    not_after: notAfter(deadline_at),
  };
}
