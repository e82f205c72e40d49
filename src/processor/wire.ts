import { z } from 'zod';

/**
 * The processor's wire format: all that the service and the processor simulator share. Amounts in minor units.
 *
 * - `POST /v1/vault/cards/`            VaultCard → VaultedCard (422 Problem when the card is unusable)
 * - `POST /v1/vault/wallets/`          VaultWallet → VaultedCard: the card of the customer's device
 * - `GET  /v1/vault/cards/{token}/`    ?project_id= → VaultedCard (404 with field vault_token when no such token in
 * that project)
 * - `POST /v1/vault/accounts/`         VaultAccount → VaultedAccount (account funding: the receiver's account number)
 * - `POST /v1/operations/`             Operation, header Idempotency-Key → OperationResult; the same key again: the
 * first result   (409 with field Idempotency-Key: the key came with another request before)
 * - `GET  /v1/operations/{key}/`       → OperationResult (404 with field idempotency_key: the processor does not know
 * the key)
 * - `GET  /v1/settlements/`            ?after=&limit= → Settlement[]: those after a number, at most `limit`, by number
 * - `GET  /v1/operations/`             ?order_id=&since=&until=&after=&limit= → ReportedOperation[]: those of some orders
 * (separated by commas), or that happened in a period, after a number, by number
 * - `GET  /v1/totals/`                 ?since=&until=&settled_up_to= → Total[]: the approved operations of a period
 *
 * Every request carries `Authorization: Bearer <processor key>`. No answer in time means that the outcome is unknown.
 */
const uuid = z.uuid();

export const vaultCardSchema = z.object({
  project_id: uuid,
  is_test: z.boolean(),
  number: z.string().regex(/^\d{12,19}$/),
  /** `MMYYYY`. */
  card_expiry: z.string().regex(/^(0[1-9]|1[0-2])\d{4}$/),
  security_code: z.string().regex(/^\d{3,4}$/),
  cardholder_name: z.string().max(255).optional(),
});
export type VaultCard = z.infer<typeof vaultCardSchema>;

/** The wallets, by the payment method they are. */
export const WALLETS = ['apple-pay', 'google-pay'] as const;
export type Wallet = (typeof WALLETS)[number];

/** A wallet the customer pays with. It has its own card, so the customer types no number. */
export const vaultWalletSchema = z.object({ project_id: uuid, is_test: z.boolean(), payment_method: z.enum(WALLETS) });
export type VaultWallet = z.infer<typeof vaultWalletSchema>;

/** The details of a card that may be known outside the vault. */
export const vaultedCardSchema = z.object({
  vault_token: z.string().min(1),
  truncated_pan: z.string(),
  card_expiry: z.string(),
  cardholder_name: z.string().optional(),
  brand: z.string(),
  /** The wallet that made the token; absent for a card that was typed. */
  wallet: z.enum(WALLETS).optional(),
});
export type VaultedCard = z.infer<typeof vaultedCardSchema>;

/** A receiver's account number, which may be a card number: the vault keeps it, the service keeps the token. */
export const vaultAccountSchema = z.object({ project_id: uuid, number: z.string().trim().min(1).max(50) });
export type VaultAccount = z.infer<typeof vaultAccountSchema>;

export const vaultedAccountSchema = z.object({
  account_token: z.string().min(1),
  /** First six and last four characters; of a short number fewer. */
  truncated_number: z.string(),
});
export type VaultedAccount = z.infer<typeof vaultedAccountSchema>;

/** Operations that the service requests. `sale` charges at once, `authorize` reserves; the others follow one of these. */
export const OPERATIONS = ['sale', 'authorize', 'capture', 'void', 'refund', 'reversal'] as const;

export const operationSchema = z.object({
  operation: z.enum(OPERATIONS),
  /** Always those of the payment order, for follow-ups too. */
  order_id: uuid,
  transaction_id: uuid,
  /** The capture, void, refund or reversal order. */
  follow_up_order_id: uuid.optional(),
  project_id: uuid,
  is_test: z.boolean(),
  amount: z.int().min(0),
  currency: z.string().regex(/^[A-Z]{3}$/),
  /** Sale and authorize only. */
  vault_token: z.string().optional(),
  /** The account the money is for (account funding), as the vault names it; sale and authorize only. */
  receiver_account_token: z.string().optional(),
  /** Where the issuer sends the customer after a 3-D Secure challenge; sale and authorize only. */
  return_url: z.url().optional(),
});
export type OperationRequest = z.infer<typeof operationSchema>;

const OPERATION_RESULTS = ['approved', 'declined', 'refused', 'processing', 'challenge', 'error'] as const;

export const operationResultSchema = z.object({
  operation: z.enum([...OPERATIONS, 'chargeback', 'chargeback_reversal']),
  idempotency_key: z.string(),
  order_id: uuid,
  transaction_id: uuid,
  follow_up_order_id: uuid.optional(),
  amount: z.int().min(0),
  currency: z.string(),
  /**
   * approved: money moved. declined: the issuer said no. refused: the processor will not do it (a capture, void or
   * refund). processing: poll again, or wait for the notification. challenge: the customer has to go to `challenge_url`.
   * error: ended without money moved and without an issuer's answer (3-D Secure failed, cancelled).
   */
  result: z.enum(OPERATION_RESULTS),
  /**
   * ISO 8583 response code: 00 approved, 05 do not honor, … Absent while the outcome is open, and when 3-D Secure
   * failed.
   */
  response_code: z.string().optional(),
  response_code_description: z.string().optional(),
  challenge_url: z.url().optional(),
  three_ds: z
    .object({ result: z.enum(['authenticated', 'attempted', 'failed']), liability_shift: z.boolean() })
    .optional(),
  /** When it happened at the processor, ISO 8601. */
  occurred: z.iso.datetime({ offset: true }),
});
export type OperationResult = z.infer<typeof operationResultSchema>;

/**
 * The amount that the processor paid out for an operation, or took back for a refund, reversal or chargeback, and its
 * fee. Each operation that moved money is settled once.
 */
const payoutSchema = z.object({
  /** Counts the settlements of the processor in the order in which they can be fetched, with gaps. */
  number: z.int().min(1),
  settlement_currency: z.string().regex(/^[A-Z]{3}$/),
  settlement_amount: z.int().min(0),
  /** Absent when there was no fee. */
  fee_currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .optional(),
  fee_amount: z.int().min(1).optional(),
});

/** A payout with the operation that it settles. */
export const settlementSchema = operationResultSchema
  .pick({ operation: true, idempotency_key: true, order_id: true, transaction_id: true, follow_up_order_id: true })
  .extend(payoutSchema.shape);
export type Settlement = z.infer<typeof settlementSchema>;
/** Maximum settlements in one answer, so that it stays below the size that a client accepts. */
export const SETTLEMENTS_LIMIT = 250;

/** An operation in a report: as it is now, with its settlement once it has one. */
export const reportedOperationSchema = operationResultSchema
  .omit({ response_code: true, response_code_description: true, challenge_url: true, three_ds: true })
  .extend({
    /** Counts the operations of the processor in the order in which they were requested. */
    number: z.int().min(1),
    project_id: uuid,
    settlement: payoutSchema.optional(),
  });
export type ReportedOperation = z.infer<typeof reportedOperationSchema>;
/** Maximum operations in one report, and orders that one may name. */
export const REPORT_LIMIT = 250;
export const REPORT_ORDERS_MAX = 50;

/** A sum of amounts. Above 2^53-1, where a number in JSON is not exact, it is sent as a text of its digits. */
const sum = z.union([z.int().min(0), z.string().regex(/^\d{1,40}$/)]).transform((sent) => BigInt(sent));

/** The approved operations of one kind, project and currency in a period. Amounts are sums. */
export const totalSchema = z.object({
  project_id: uuid,
  operation: z.string(),
  currency: z.string(),
  amount: sum,
  /** Of those that are settled by a number not above `settled_up_to`. */
  settlement_amount: sum,
  fee_amount: sum,
});
export type Total = z.infer<typeof totalSchema>;
/** As it is sent. */
export type SentTotal = z.input<typeof totalSchema>;

/** Body of every answer that is not a success. */
export const problemSchema = z.object({ error: z.string(), field: z.string().optional() });
export type Problem = z.infer<typeof problemSchema>;

/**
 * Body of a notification to the service (signed as Standard Webhooks, headers webhook-id, webhook-timestamp,
 * webhook-signature). `operation.updated`: an outcome that came late, a chargeback, a chargeback won back; carries the
 * operation as it is now. `settlements.created`: there are settlements to fetch.
 */
export const notificationSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('operation.updated'), operation: operationResultSchema }),
  z.object({ type: z.literal('settlements.created') }),
]);
export type Notification = z.infer<typeof notificationSchema>;

/**
 * One row of `GET /ledger/` (with the simulator's control key): every operation the processor did, oldest first;
 * `requests` counts arrivals with the same key.
 */
export type LedgerEntry = Omit<OperationResult, 'response_code_description' | 'challenge_url' | 'three_ds'> & {
  requests: number;
};

/** One row of `GET /cards.json` (no key needed): a published test card, for the page of a test project. */
export const testCardSchema = z.object({
  name: z.string(),
  number: z.string(),
  brand: z.string(),
  title: z.string(),
  meaning: z.string(),
});
export type TestCard = z.infer<typeof testCardSchema>;
