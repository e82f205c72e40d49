import type { RequestHandler } from 'express';
import { z } from 'zod';
import { WALLETS, type Wallet } from '../../src/processor/wire';
import { takeAttempt } from './attempt-form';
import type { PageContext } from './page-context';
import { paymentOf } from './payment';

const formSchema = z.object({ payment_method: z.enum(WALLETS) });

/** Handles the form of a wallet: the processor gives a token of the wallet's card, which is then charged like any card. */
export function payByWallet(context: PageContext): RequestHandler {
  const { orders, processor } = context.services;
  return takeAttempt(context, readWallet, async (form) => {
    const { order, payment_method, deadline_at } = form;
    const token = await processor.vaultWallet({ project_id: order.project_id, is_test: order.is_test, payment_method });
    return await orders.pay(order.id, paymentOf(form, token), deadline_at);
  });
}

/** The wallet whose button was pressed; `undefined` when the form is not ours. */
function readWallet(body: unknown): Wallet | undefined {
  return formSchema.safeParse(body).data?.payment_method;
}
