import type { PaymentLink } from '../../src/contract/payment-link';
import type { StoredPaymentLink } from '../../src/db/payment-links';
import { linkReason } from '../../src/domain/payment-link';
import { linkPagePath } from '../../src/domain/page-paths';
import { PAYMENT_LINK_MOVES, isFinal } from '../../src/domain/transitions';
import type { Versioned } from '../operation';
import { testClock } from './order';
import { formatTimestamp, omitNull } from './format';

/** Like presentPaymentLink, for answers that carry an ETag. */
export function presentLinkVersion(link: StoredPaymentLink, public_url: string): Versioned<PaymentLink> {
  return { body: presentPaymentLink(link, public_url), version: link.version };
}

/** A payment link as the wire shows it (rules 19.9). `public_url` without a slash at its end. */
export function presentPaymentLink(link: StoredPaymentLink, public_url: string): PaymentLink {
  const orders: PaymentLink['orders'] = {};
  for (const { id, status } of link.orders) (orders[status] ??= []).push(id);
  const { completed_order_id, ended_by } = link;
  const reason = linkReason({
    status: link.status,
    attempts: link.attempts,
    expires_at: Date.parse(link.expires_at),
    ...(ended_by && { ended_by }),
    ...(completed_order_id && { completed_order_id }),
  });
  return {
    ...(omitNull({
      id: link.id,
      project_id: link.project_id,
      merchant_id: link.merchant_id,
      merchant_order_id: link.merchant_order_id,
      amount: link.amount,
      currency: link.currency,
      description: link.description,
      payment_methods: link.payment_methods,
      expiration_period: link.expiration_period,
      return_url: link.return_url,
      webhook_url: link.webhook_url,
      payment_url: `${public_url}${linkPagePath(link.id)}`,
      status: link.status,
      reason,
      completed_order_id,
      expires_at: isFinal(PAYMENT_LINK_MOVES, link.status) ? null : formatTimestamp(link.expires_at),
      test_clock: testClock(link),
      created: formatTimestamp(link.created),
      modified: formatTimestamp(link.modified),
      completed: link.completed && formatTimestamp(link.completed),
    }) as Omit<PaymentLink, 'orders'>),
    orders,
  };
}
