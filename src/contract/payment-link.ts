import { z } from 'zod';
import { MAX_DURATION } from '../domain/duration';
import { PAYMENT_LINK_ATTEMPTS_MAX } from '../domain/payment-link';
import { ORDER_STATUSES, PAYMENT_LINK_STATUSES } from '../domain/transitions';
import type { Route } from './routes';
import { testClockRequestSchema } from './test-clock';
import { paymentMethod } from './transaction';
import {
  amount,
  createdPeriod,
  currency,
  description,
  duration,
  durationOutput,
  idInput,
  reference,
  timestampOutput,
  uri,
  idOutput,
} from './scalars';

/** A payment link: an address of the hosted page for one payment (rules 19). */

const texts = {
  merchant_order_id: "Merchant's own reference. Orders of the link carry it too.",
  description: 'Orders of the link carry it too; without it they have none.',
  payment_methods: 'Payment methods shown on the hosted page. Without it every method active in the project is shown.',
  expiration_period: `How long the link can be paid, 30 days by default, at most ${MAX_DURATION.link}.`,
  return_url:
    'Where the customer goes after paying, with `order_id`, `project_id` and `payment_link_id` added to its query. Without it the customer stays on the result page.',
  webhook_url: 'Receives the webhooks of the orders of the link.',
};

/** The body that creates a link. Unknown and read-only fields are ignored (rules 1.6). */
export const paymentLinkRequestSchema = z.object({
  merchant_order_id: reference().min(1).describe(texts.merchant_order_id),
  amount: amount().describe('In the smallest currency unit, VAT included.'),
  currency: currency().describe('Must be supported by the project.'),
  description: description().optional().describe(texts.description),
  payment_methods: z.array(paymentMethod()).max(50).optional().describe(texts.payment_methods),
  expiration_period: duration(MAX_DURATION.link).optional().describe(texts.expiration_period),
  return_url: uri().optional().describe(texts.return_url),
  webhook_url: uri().optional().describe(texts.webhook_url),
});

/** A link in an answer. Absent fields are left out, never null (rules 1.3). */
export const paymentLinkSchema = z.strictObject({
  id: idOutput(),
  project_id: idOutput(),
  merchant_id: idOutput(),
  merchant_order_id: z.string().describe(texts.merchant_order_id),
  amount: amount(),
  currency: currency(),
  description: z.string().optional(),
  payment_methods: z.array(paymentMethod()).optional().describe(texts.payment_methods),
  expiration_period: durationOutput(),
  return_url: uri().optional().describe(texts.return_url),
  webhook_url: uri().optional().describe(texts.webhook_url),
  payment_url: uri().describe('Address to send to the customer.'),
  status: z.enum(PAYMENT_LINK_STATUSES),
  reason: z.string().describe('Why the link has its status, in words.'),
  completed_order_id: idOutput().optional().describe('The order that was paid.'),
  orders: z
    .partialRecord(z.enum(ORDER_STATUSES), z.array(idOutput()))
    .describe('IDs of the orders of the link by their status; an empty object when there are none.'),
  expires_at: timestampOutput().optional().describe('Time at which the link expires; absent once its status is final.'),
  test_clock: timestampOutput()
    .optional()
    .describe('The current time of the link, once it was advanced; in test projects only.'),
  created: timestampOutput(),
  modified: timestampOutput(),
  completed: timestampOutput().optional().describe('With status completed only.'),
});
export type PaymentLink = z.infer<typeof paymentLinkSchema>;

export const paymentLinkListSchema = z.array(paymentLinkSchema);

const linkParams = z.object({ payment_link_id: idInput() });

/** Routes of payment links. */
export const PAYMENT_LINK_ROUTES = {
  createPaymentLink: {
    method: 'post',
    path: '/v1/paymentlinks/',
    summary: 'Create a payment link',
    description: `An address of the hosted page, \`payment_url\`, to send to a customer. Each attempt to pay makes an order, one at a time and ${PAYMENT_LINK_ATTEMPTS_MAX} at most; the link is paid once.`,
    body: paymentLinkRequestSchema,
    output: paymentLinkSchema,
    success: 201,
  },
  listPaymentLinks: {
    method: 'get',
    path: '/v1/paymentlinks/',
    summary: 'List payment links',
    description:
      'The payment links of the project that were created in a period of at most 31 days, newest first, both ends included; without parameters, in the last 31 days and later, as an advanced sandbox clock may date them. It returns at most 10,000 links: for older ones ask again with `created_until` set to `created` of the last one, which is returned again. It counts as one request more for each 100 links.',
    query: createdPeriod(),
    output: paymentLinkListSchema,
    stream: true,
  },
  getPaymentLink: {
    method: 'get',
    path: '/v1/paymentlinks/{payment_link_id}/',
    summary: 'Get a payment link',
    description: 'The payment link with its status, the reason in words, and the IDs of its orders by their status.',
    params: linkParams,
    output: paymentLinkSchema,
    etag: true,
    errors: ['NotFound'],
  },
  endPaymentLink: {
    method: 'delete',
    path: '/v1/paymentlinks/{payment_link_id}/',
    summary: 'End a payment link',
    description:
      'Ends a link that is new or all_unsuccessful: it cannot be paid any more, and its status is expired. It has ended only if the answer shows the status `expired`: with another one nothing is decided yet, so send the request again. Ending it again returns the link as it is.',
    params: linkParams,
    output: paymentLinkSchema,
    etag: true,
    errors: ['NotFound', 'Conflict'],
  },
  advancePaymentLinkClock: {
    method: 'post',
    path: '/v1/paymentlinks/{payment_link_id}/test-clock/',
    summary: 'Advance the clock of a payment link',
    description:
      'Test projects only. Advances the clock of a payment link, its orders and their follow-up orders and webhooks. Actions that fall due are carried out in order. The answer is the link after them, with its current time in `test_clock`; actions that take longer than 10 seconds continue afterwards.',
    params: linkParams,
    body: testClockRequestSchema,
    output: paymentLinkSchema,
    etag: true,
    errors: ['NotFound'],
  },
} as const satisfies Record<string, Route>;
