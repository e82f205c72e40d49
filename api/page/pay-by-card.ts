import type { RequestHandler } from 'express';
import { invalid, type ServiceError } from '../../src/errors';
import { takeAttempt } from './attempt-form';
import { CARD_FIELDS, readCard, refusalOf, type FieldErrors } from './card-form';
import { CREDIT_CARD } from './methods';
import type { PageContext } from './page-context';
import { paymentOf } from './payment';
import { readerOf } from './reader';

/** Handles the card form: the card goes to the processor's vault, and only its token goes on. */
export function payByCard(context: PageContext): RequestHandler {
  const { services, show, testCards } = context;
  const { orders, processor } = services;
  return takeAttempt(
    context,
    () => CREDIT_CARD,
    async (form) => {
      const { request, response, order, deadline_at } = form;
      const { errors: words } = readerOf(request, order).texts;
      const testNumbers = order.is_test ? (await testCards()).map(({ number }) => number) : [];
      const read = readCard(request.body, words, testNumbers);
      const again = async (errors: FieldErrors, cardholder_name: string): Promise<undefined> => {
        await show(request, response, order, {
          status: 400,
          after_form: true,
          refused: firstOf(errors),
          errors,
          cardholder_name,
        });
      };
      if (!('card' in read)) return await again(read.errors, read.cardholder_name);
      const { card } = read;

      const vaulted = await processor.vaultCard({ project_id: order.project_id, is_test: order.is_test, ...card });
      if (!vaulted.usable) return await again(refusalOf(vaulted.field, words), card.cardholder_name);
      const { usable: _, ...token } = vaulted;
      return await orders.pay(order.id, paymentOf(form, token), deadline_at);
    },
  );
}

function firstOf(errors: FieldErrors): ServiceError | undefined {
  const name = CARD_FIELDS.find((one) => errors[one] !== undefined);
  return name && invalid(name, errors[name] ?? '');
}
