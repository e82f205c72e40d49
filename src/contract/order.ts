import { z } from 'zod';
import { MAX_DURATION } from '../domain/duration';
import { FOLLOW_UPS } from '../domain/follow-up';
import { ORDER_STATUSES } from '../domain/transitions';
import {
  amount,
  country,
  currency,
  description,
  duration,
  durationOutput,
  freeFormList,
  freeFormObject,
  reference,
  requiredDescription,
  timestampOutput,
  uri,
  idOutput,
} from './scalars';
import { paymentMethod, transactionRequestSchema, transactionSchema } from './transaction';

/**
 * The customer, in requests and answers alike. Which of these fields account funding needs is decided in the domain.
 */
export const customerSchema = z.object({
  merchant_customer_id: reference().optional().describe("Merchant's own customer reference."),
  email_address: reference().optional(),
  first_name: reference().optional(),
  last_name: reference().optional(),
  address_type: reference().optional().describe('`billing` for account funding.'),
  address: reference().optional().describe('Street and house number.'),
  postal_code: reference().optional(),
  city: reference().optional(),
  state: reference().optional().describe('Two-letter state, province or territory code; for country US or CA.'),
  country: country().optional().describe('ISO 3166-1 alpha-2.'),
  locale: reference().optional().describe('Language the customer reads, for example `nl_NL`.'),
  phone_numbers: z.array(reference()).max(20).optional(),
  ip_address: reference().optional(),
});

/** Descriptions of fields of requests and answers. */
const MEANINGS = {
  merchant_order_id: "Merchant's own reference. Recommended.",
  expiration_period: `How long the order stays valid, at most ${MAX_DURATION.order}.`,
  payment_methods:
    'Payment methods shown on the hosted payment page. Without it every payment method active in the project is shown.',
  return_url:
    "Where the customer goes after paying, with `order_id` and `project_id` added to its query. Recommended. Without it the customer stays on the service's result page.",
  failure_url:
    'Where the customer goes when payment ends as cancelled, expired or error. Without it the `return_url` is used. Its query gets the same ids.',
  webhook_url: "Receives webhooks for this order; overrides the project's webhook URL.",
  client: 'The software that sends the request (platform or plugin). At most 16 KiB of JSON.',
  extra: "Merchant's own data, stored and returned on retrieval. At most 16 KiB of JSON.",
  order_lines: 'What was bought, stored and returned on retrieval. At most 128 KiB of JSON.',
  locale: 'Language of the hosted payment page, for example `nl_NL`.',
};

/** The body that creates an order. Unknown and read-only fields are ignored (rules 1.6). */
export const orderRequestSchema = z.object({
  currency: currency().describe('Must be supported by the project.'),
  amount: amount().describe('In the smallest currency unit, VAT included.'),
  merchant_order_id: reference().optional().describe(MEANINGS.merchant_order_id),
  description: description().optional().describe('Recommended.'),
  expiration_period: duration(MAX_DURATION.order).optional().describe(MEANINGS.expiration_period),
  payment_methods: z.array(paymentMethod()).max(50).optional().describe(MEANINGS.payment_methods),
  transactions: z
    .array(transactionRequestSchema)
    .max(1, 'Expected one transaction at most.')
    .optional()
    .describe('One transaction chooses the method; without it the customer chooses on the hosted page.'),
  return_url: uri().optional().describe(MEANINGS.return_url),
  failure_url: uri().optional().describe(MEANINGS.failure_url),
  webhook_url: uri().optional().describe(MEANINGS.webhook_url),
  customer: customerSchema.optional().describe('The payer.'),
  client: freeFormObject().optional().describe(MEANINGS.client),
  extra: freeFormObject().optional().describe(MEANINGS.extra),
  order_lines: freeFormList().optional().describe(MEANINGS.order_lines),
  locale: reference().optional().describe(MEANINGS.locale),
});
export type OrderRequest = z.infer<typeof orderRequestSchema>;

/** A field of the request that creates an order, which may be null too. */
const clearable = <T extends z.ZodType>(field: z.ZodOptional<T>) =>
  field
    .unwrap()
    .nullable()
    .optional()
    .describe(field.description ?? '');

const { shape: fields } = orderRequestSchema;

/**
 * A change of an order: the fields of its creation that may change, cleared by null, and two that may be repeated
 * (rules 5.5).
 */
export const orderUpdateSchema = z.object({
  merchant_order_id: clearable(fields.merchant_order_id),
  description: clearable(fields.description),
  return_url: clearable(fields.return_url),
  failure_url: clearable(fields.failure_url),
  webhook_url: clearable(fields.webhook_url),
  customer: clearable(fields.customer),
  extra: clearable(fields.extra),
  currency: currency().optional().describe('Cannot change; accepted when it is that of the order.'),
  amount: amount().optional().describe('Cannot change; accepted when it is that of the order.'),
});

/** A refund request; absent fields are taken from the payment order (rules 9.3). */
export const refundRequestSchema = z.object({
  amount: amount().describe('Smallest currency unit; the full amount, or less for a partial refund.'),
  description: description().optional().describe('That of the original order unless it is sent.'),
  merchant_order_id: reference().optional().describe('That of the original order unless it is sent.'),
  extra: freeFormObject().optional().describe(MEANINGS.extra),
});

/** A request to capture or void a part of an authorization (rules 8.3). */
export const partialAmountRequestSchema = z.object({
  amount: amount(1).describe('Smallest currency unit; at most what is left.'),
  description: requiredDescription(),
});

/**
 * The body that captures or voids all that is left: empty. A request that names an amount means a part, and must not
 * get the whole.
 */
export const fullAmountRequestSchema = z.looseObject({}).superRefine((body, context) => {
  if (!('amount' in body)) return;
  context.addIssue({
    code: 'custom',
    path: ['amount'],
    message: 'This path takes all that is left: send the amount of a part to captures/amount/ or voids/amount/.',
    input: body,
  });
});

/** Parts of an order that are shown when they are asked for. */
export const FIELDS_ON_REQUEST = ['amount_details'] as const;

const FLAGS = ['is-test', ...Object.values(FOLLOW_UPS).flatMap(({ flag, original_flag }) => [flag, original_flag])];

const ids = () => z.array(idOutput()).optional();

/** An order in an answer. Absent fields are left out, never null (rules 1.3). */
export const orderSchema = z.strictObject({
  id: idOutput(),
  project_id: idOutput(),
  merchant_id: idOutput(),
  merchant_name: z.string().optional(),
  merchant_order_id: z.string().optional().describe(MEANINGS.merchant_order_id),
  description: z.string().optional(),
  currency: currency(),
  amount: amount(),
  status: z.enum(ORDER_STATUSES),
  flags: z.array(z.string().meta({ enum: FLAGS })).describe('Labels of the order.'),
  created: timestampOutput(),
  modified: timestampOutput().describe(
    'Of the last change of anything in this object. A newer version always has a later one.',
  ),
  completed: timestampOutput().optional().describe('With status completed only.'),
  expiration_period: durationOutput().optional(),
  expires_at: timestampOutput()
    .optional()
    .describe(
      'Time at which the order expires unless it is paid, or earlier with its transaction. Only while it can be paid.',
    ),
  test_clock: timestampOutput()
    .optional()
    .describe('The current time of the order, once it was advanced; in test projects only.'),
  payment_methods: z.array(paymentMethod()).optional().describe(MEANINGS.payment_methods),
  transactions: z.array(transactionSchema).optional().describe('Payment attempts, oldest first.'),
  order_url: uri().optional().describe('Hosted payment page; the customer is sent here when no transaction was sent.'),
  return_url: uri().optional().describe(MEANINGS.return_url),
  failure_url: uri().optional().describe(MEANINGS.failure_url),
  webhook_url: uri().optional().describe(MEANINGS.webhook_url),
  customer: customerSchema.optional(),
  client: freeFormObject().optional().describe(MEANINGS.client),
  extra: freeFormObject().optional().describe(MEANINGS.extra),
  order_lines: freeFormList().optional().describe(MEANINGS.order_lines),
  locale: z.string().optional().describe(MEANINGS.locale),
  refunded_amount: amount().optional().describe('Refunded so far.'),
  refund_of_order_id: idOutput().optional(),
  refund_orders: ids().describe('Refund orders of this order.'),
  capture_of_order_id: idOutput().optional(),
  void_of_order_id: idOutput().optional(),
  chargeback_of_order_id: idOutput().optional(),
  chargeback_orders: ids().describe('Chargeback orders of this order.'),
  reversal_of_order_id: idOutput().optional(),
  reversal_orders: ids().describe(
    'Reversal orders of this order: chargebacks that were won back, and late approvals that were given back.',
  ),
  related_order_id: idOutput()
    .optional()
    .describe('Original order, for a refund, capture, void, chargeback or reversal: such an order pays for nothing.'),
  related_orders: ids().describe('Orders created from this order.'),
  related_payment_link_id: idOutput().optional(),
  amount_details: z
    .strictObject({
      capturable: amount(),
      captured: amount(),
      refundable: amount(),
      refunded: amount(),
      voidable: amount(),
      voided: amount(),
    })
    .optional()
    .describe('With `?fields[]=amount_details` only: what was moved and what still can be.'),
});
export type Order = z.infer<typeof orderSchema>;

export const orderListSchema = z.array(orderSchema);

/** Body of a webhook: it carries no status, the receiver retrieves the order (rules 13.1 and 13.2). */
export const webhookSchema = z.strictObject({
  event: z.literal('status_changed'),
  order_id: idOutput().describe('Changed order.'),
  project_id: idOutput().describe('Project of the order.'),
});
export type Webhook = z.infer<typeof webhookSchema>;
