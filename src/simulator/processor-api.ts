import { setTimeout as wait } from 'node:timers/promises';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { z } from 'zod';
import {
  REPORT_LIMIT,
  REPORT_ORDERS_MAX,
  SETTLEMENTS_LIMIT,
  operationSchema,
  vaultAccountSchema,
  vaultCardSchema,
  vaultWalletSchema,
  type VaultedCard,
} from '../processor/wire';
import { brandOf, testCard, deviceCard } from './cards';
import { endedChallenge } from './challenge';
import type { SimulatorContext } from './context';
import type { Facts, FaultTarget } from './faults';
import { presentOperation, presentReported, presentSettlement, presentTotals } from './ledger';
import { operate } from './operate';
import { parse, Refusal } from './refusal';
import type { CardRow } from './vault';

/** Longest silence, in milliseconds, before a call that gets no answer is cut. */
const SILENCE_MS = 60_000;
const settlementsQuerySchema = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(SETTLEMENTS_LIMIT).default(SETTLEMENTS_LIMIT),
});
const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const reportQuerySchema = z
  .object({
    order_id: z
      .string()
      .transform((text) => text.split(','))
      .pipe(z.array(z.uuid()).max(REPORT_ORDERS_MAX))
      .optional(),
    since: instant.optional(),
    until: instant.optional(),
    after: z.coerce.number().int().min(0).default(0),
    limit: z.coerce.number().int().min(1).max(REPORT_LIMIT).default(REPORT_LIMIT),
  })
  .refine(({ order_id, since, until }) => order_id !== undefined || (since !== undefined && until !== undefined), {
    message: 'Expected order_id, or since and until.',
  });
const totalsQuerySchema = z.object({
  since: instant,
  until: instant,
  settled_up_to: z.coerce.number().int().min(0).default(0),
});
const keySchema = z.string().regex(/^[\x21-\x7e]{1,255}$/);

/** The API of the wire format: vault and operations. */
export function processorApi(context: SimulatorContext): Router {
  const router = Router();

  router.use('/vault', vaultApi(context));

  router.post('/operations/', async (req, res) => {
    const operation = parse(operationSchema, req.body);
    const key = keySchema.safeParse(req.get('idempotency-key'));
    if (!key.success) throw new Refusal(400, 'Idempotency-Key is missing or malformed.', 'Idempotency-Key');
    await withFaults(context, operation.operation, { ...operation, idempotency_key: key.data }, res, async () => {
      const answer = await operate(context.store, operation, key.data, new Date());
      if (answer.kind === 'key_reused') {
        throw new Refusal(409, 'This Idempotency-Key belongs to another request.', 'Idempotency-Key');
      }
      if (answer.kind === 'error') throw new Refusal(500, 'Internal error.');
      if (answer.kind === 'answer') return presentOperation(answer.row, context.public_url);
      if (answer.happened) cut(res);
      else stayQuiet(res, SILENCE_MS);
      return undefined;
    });
  });

  router.get('/operations/:key/', async (req, res) => {
    const { key } = req.params;
    const now = new Date();
    let row = await context.store.operation(key);
    if (row?.due && row.due <= now) {
      await context.store.resolveDue(now);
      row = await context.store.operation(key);
    }
    row = (await endedChallenge(context.store, row, now)) ?? row;
    await withFaults(context, 'ask', { ...row, idempotency_key: key }, res, async () => {
      if (!row) throw unknownKey();
      return presentOperation(row, context.public_url);
    });
  });

  router.get('/settlements/', (req, res) =>
    withFaults(context, 'settlements', {}, res, async () => {
      const { after, limit } = parse(settlementsQuerySchema, req.query);
      return (await context.store.settlements(after, limit)).map(presentSettlement);
    }),
  );

  router.get('/operations/', (req, res) =>
    withFaults(context, 'reports', {}, res, async () => {
      const { order_id: order_ids, ...filter } = parse(reportQuerySchema, req.query);
      return (await context.store.reported({ ...filter, order_ids })).map(presentReported);
    }),
  );

  router.get('/totals/', (req, res) =>
    withFaults(context, 'reports', {}, res, async () =>
      presentTotals(await context.store.counted(parse(totalsQuerySchema, req.query))),
    ),
  );

  return router;
}

/** Swaps cards, wallets and accounts for tokens. */
function vaultApi(context: SimulatorContext): Router {
  const router = Router();

  router.post(
    '/cards/',
    vaultCall(context, async (req, res) => {
      const { store } = context;
      const { number, card_expiry, security_code, cardholder_name, project_id } = parse(
        vaultCardSchema,
        req.body,
        cardStatus,
      );
      const brand = brandOf(number);
      if (!brand) throw new Refusal(422, 'This is not a card number.', 'number');
      if (hasExpired(card_expiry, new Date())) throw new Refusal(422, 'The card has expired.', 'card_expiry');
      if (security_code.length !== (brand === 'american-express' ? 4 : 3)) {
        throw new Refusal(422, 'The security code has another length.', 'security_code');
      }
      const row = await store.vault.insertCard({
        project_id,
        brand,
        card_expiry,
        truncated_pan: truncated(number),
        scenario: testCard(number)?.scenario ?? 'other',
        ...(cardholder_name !== undefined && { cardholder_name }),
      });
      res.status(201);
      return vaulted(row);
    }),
  );

  router.post(
    '/wallets/',
    vaultCall(context, async (req, res) => {
      const wallet = parse(vaultWalletSchema, req.body);
      const row = await context.store.vault.insertCard({
        project_id: wallet.project_id,
        ...deviceCard(wallet, new Date()),
      });
      res.status(201);
      return vaulted(row);
    }),
  );

  router.get(
    '/cards/:token/',
    vaultCall(context, async (req) => {
      const { project_id } = parse(z.object({ project_id: z.uuid() }), req.query);
      const row = await context.store.vault.card(String(req.params['token']), project_id);
      if (!row) throw new Refusal(404, 'No such vault token in this project.', 'vault_token');
      return vaulted(row);
    }),
  );

  router.post(
    '/accounts/',
    vaultCall(context, async (req, res) => {
      const { project_id, number } = parse(vaultAccountSchema, req.body, cardStatus);
      const truncated_number = truncated(number);
      const account_token = await context.store.vault.insertAccount(project_id, truncated_number);
      res.status(201);
      return { account_token, truncated_number };
    }),
  );

  return router;
}

/** 422 for wrong customer input, 400 for a mistake of the caller. */
function cardStatus(field: string): number {
  return ['number', 'card_expiry', 'security_code', 'cardholder_name'].includes(field) ? 422 : 400;
}

/** A card is good to the end of the month on it, anywhere on earth. */
function hasExpired(card_expiry: string, now: Date): boolean {
  const month = Number(card_expiry.slice(0, 2));
  return now.getTime() - 12 * 3_600_000 >= Date.UTC(Number(card_expiry.slice(2)), month);
}

function vaulted({ project_id: _project, scenario: _scenario, ...card }: CardRow): VaultedCard {
  return card;
}

/** First six and last four characters, `411111******1111`; of a short number only the last ones, at most half of it. */
function truncated(number: string): string {
  // By code points: half a surrogate pair is no text.
  const plain = Array.from(number.replace(/[ -]/g, ''));
  const first = plain.length > 10 ? 6 : 0;
  const last = Math.min(4, Math.floor(plain.length / 2));
  return plain.map((character, at) => (at < first || at >= plain.length - last ? character : '*')).join('');
}

/** A call of the vault; its project is in the body or in the query. */
function vaultCall(
  context: SimulatorContext,
  handle: (req: Request, res: Response) => Promise<unknown>,
): RequestHandler {
  return (req, res) => {
    const project_id: unknown =
      (req.body as { project_id?: unknown } | undefined)?.project_id ?? req.query['project_id'];
    return withFaults(context, 'vault', typeof project_id === 'string' ? { project_id } : {}, res, () =>
      handle(req, res),
    );
  };
}

/** Answers with the result of `work`, unless the control API has set a fault. */
async function withFaults(
  context: SimulatorContext,
  target: FaultTarget,
  facts: Facts,
  res: Response,
  work: () => Promise<unknown>,
): Promise<void> {
  const fault = context.faults.take(target, facts);
  if (fault?.kind === 'outage') return cut(res);
  if (fault?.kind === 'no_answer') return stayQuiet(res, fault.milliseconds ?? SILENCE_MS);
  if (fault?.kind === 'error') throw new Refusal(500, 'Internal error.');
  if (fault?.kind === 'not_found') throw unknownKey();
  if (fault?.kind === 'latency') await wait(fault.milliseconds ?? 1_000);

  const body = await work();
  if (fault?.kind === 'lost_answer') return cut(res);
  if (fault?.kind === 'garbage') return void res.status(200).type('application/json').send('{"result":"appro');
  if (body === undefined) return;
  // JSON leaves out what is undefined.
  const fields = Object.entries(fault?.answer ?? {}).map(([field, value]) => [field, value ?? undefined] as const);
  res.json(fault?.kind === 'altered' ? { ...body, ...Object.fromEntries(fields) } : body);
}

const unknownKey = () => new Refusal(404, 'No operation has this key.', 'idempotency_key');

function cut(res: Response): void {
  res.socket?.destroy();
}

/** Gives no answer until the caller gives up or the time is over. */
function stayQuiet(res: Response, milliseconds: number): void {
  const timer = setTimeout(() => cut(res), milliseconds);
  timer.unref();
  res.once('close', () => clearTimeout(timer));
}
