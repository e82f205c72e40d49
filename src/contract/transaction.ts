import { z } from 'zod';
import { CAPTURE_MODES } from '../domain/amounts';
import { MAX_DURATION, durationProblem } from '../domain/duration';
import { FOLLOW_UP_KINDS } from '../domain/follow-up';
import { EVENT_SOURCES } from '../domain/transaction';
import { TRANSACTION_STATUSES } from '../domain/transitions';
import { amount, currency, duration, durationOutput, reference, timestampOutput, uri, idOutput } from './scalars';

/** One payment attempt (rules 6). */

/** Payment methods. */
export const PAYMENT_METHODS = ['credit-card', 'apple-pay', 'google-pay'] as const;

/** A payment method in a request. Which of them a project has active is for the operation to say. */
export const paymentMethod = () => reference().meta({ enum: PAYMENT_METHODS });

const TRANSACTION_TYPES = ['authorization', 'aft', ...FOLLOW_UP_KINDS] as const;
const RECEIVER_ACCOUNT_NUMBER_LENGTH = { min: 1, max: 50 } as const;

const captureMode = () =>
  z
    .enum(CAPTURE_MODES)
    .optional()
    .describe(
      '`manual`: captured or voided by the merchant. `delayed`: captured at the end of expiration_period. Absent: a sale, captured at once.',
    );

const captureWindow = z.object({ capture_mode: captureMode(), expiration_period: z.string().optional() });

/** Fields of a transaction that a merchant may set when creating an order. Other fields are ignored. */
export const transactionRequestSchema = z
  .object({
    payment_method: paymentMethod().describe('One that is active in the project.'),
    capture_mode: captureMode(),
    expiration_period: duration(MAX_DURATION.order)
      .optional()
      .describe(
        `How long it can be paid; with capture_mode, how long it can be captured once accepted, at most ${MAX_DURATION.capture}.`,
      ),
    payment_method_details: z
      // Loose, because even a misspelt receiver_ field makes it account funding.
      .looseObject({
        vault_token: reference().min(1).optional().describe('Card token; the transaction is then charged at once.'),
        receiver_account_number: z
          .string()
          .min(RECEIVER_ACCOUNT_NUMBER_LENGTH.min)
          .max(RECEIVER_ACCOUNT_NUMBER_LENGTH.max)
          .optional()
          .describe('Account funding: the account to load. The only field that may hold a card number.'),
        receiver_account_number_type: reference()
          .min(1)
          .optional()
          .describe('Account funding: for example `card-account`.'),
      })
      .superRefine(
        (details, context) => {
          const empty = Object.keys(details).filter((name) => name.startsWith('receiver_') && details[name] === null);
          for (const name of empty) context.addIssue({ code: 'custom', path: [name], input: null });
        },
        // Beside wrong fields, too.
        { when: ({ value }) => typeof value === 'object' && value !== null },
      )
      .optional(),
  })
  .superRefine(
    ({ capture_mode, expiration_period }, context) => {
      if (capture_mode === undefined || expiration_period === undefined) return;
      const problem = durationProblem(expiration_period, MAX_DURATION.capture);
      if (problem !== undefined) {
        context.addIssue({ code: 'custom', path: ['expiration_period'], message: problem, input: expiration_period });
      }
    },
    // Beside wrong fields, too: all that is wrong is reported.
    { when: ({ value }) => captureWindow.safeParse(value).success },
  );
export type TransactionRequest = z.infer<typeof transactionRequestSchema>;

export const eventSchema = z.strictObject({
  id: idOutput(),
  event: z.enum(TRANSACTION_STATUSES).describe('The status moved to.'),
  occurred: timestampOutput().describe('Time of the event.'),
  noticed: timestampOutput().describe('Time at which the service received it.'),
  source: z.enum(EVENT_SOURCES),
  result: z.enum(['approved', 'declined', 'failed']).optional(),
  authorization_iso_response_code: z
    .string()
    .optional()
    .describe("ISO 8583 code of an issuer's decline, for example `05`."),
});
export type Event = z.infer<typeof eventSchema>;

/** A transaction in an answer. */
export const transactionSchema = z.strictObject({
  id: idOutput(),
  order_id: idOutput(),
  created: timestampOutput(),
  modified: timestampOutput(),
  amount: amount(),
  currency: currency(),
  credit_debit: z.enum(['credit', 'debit']).describe('`credit`: a payment. `debit`: money given back.'),
  payment_method: z.string().meta({ enum: [...PAYMENT_METHODS, 'credit-card-refund'] }),
  payment_method_brand: z.string().optional().describe('For example `visa`, `mastercard`.'),
  payment_method_details: z
    .strictObject({
      truncated_pan: z.string().optional().describe('Masked card number, `411111******1111`.'),
      card_expiry: z.string().optional().describe('MMYYYY.'),
      cardholder_name: z.string().optional(),
      vault_token: z.string().optional().describe('Reusable card token; keep and use it on the server only.'),
      liability_shift: z.boolean().optional(),
      receiver_account_number: z.string().optional().describe('Account funding: first six and last four.'),
      receiver_account_number_type: z.string().optional(),
    })
    .optional(),
  capture_mode: captureMode(),
  expiration_period: durationOutput().optional(),
  expires_at: timestampOutput()
    .optional()
    .describe('Time at which the transaction expires unless it is paid. Only with status new or pending.'),
  capture_before: timestampOutput()
    .optional()
    .describe('End of the capture window. Only while the transaction can be captured.'),
  transaction_type: z.enum(TRANSACTION_TYPES).optional(),
  refund_of_transaction_id: idOutput().optional(),
  is_capturable: z
    .boolean()
    .optional()
    .describe('True while the transaction can still be captured. Always there on a payment.'),
  captured_amount: amount().optional(),
  voided_amount: amount().optional(),
  settlement_currency: currency().optional(),
  settlement_amount: amount()
    .optional()
    .describe(
      'What the processor paid out (`credit_debit` is `credit`) or took back (`debit`), never negative; once it is settled.',
    ),
  fee_currency: currency().optional(),
  fee_amount: amount().optional().describe('Fee that the processor kept; once it is settled.'),
  status: z.enum(TRANSACTION_STATUSES),
  events: z.array(eventSchema).optional(),
  outcomes: z
    .strictObject({
      processing: z.strictObject({
        status: z.string(),
        response_code: z.string().optional().describe('`00` means approved.'),
        response_code_description: z.string().optional(),
      }),
    })
    .optional(),
  received_3ds_authentication: z
    .strictObject({ result: z.string().describe('`failed` means that 3-D Secure failed.') })
    .optional(),
  payment_url: uri().optional().describe('Hosted page of the transaction.'),
});
export type Transaction = z.infer<typeof transactionSchema>;
