import { setTimeout as sleep } from 'node:timers/promises';
import { withDatabase } from '../../src/db/connection';
import { queryRows } from '../../src/db/query';
import { freePort } from '../../src/stack/ports';
import { Merchant } from '../../test/support/merchant';
import { answerOfAdmin } from '../../test/support/admin';
import { OwnStack } from '../../test/support/stack';
import { checkInvariants } from '../invariants';
import type { Proof, ProofInput, ProofOutcome, Size } from '../proof';
import { runLoad } from '../support/load';
import { startFailingReceiver } from '../support/receivers';
import type { Load } from '../support/shop';
import { RecordServer } from './record-server';

interface Drill {
  orders: number;
  per_second: number;
  /** How long the load runs before all processes are killed. Milliseconds. */
  load_ms: number;
  /** How far the restore goes back from there. Milliseconds. */
  back_ms: number;
}

const SIZES: Record<Size, Drill> = {
  ci: { orders: 100, per_second: 4, load_ms: 20_000, back_ms: 10_000 },
  full: { orders: 1_200, per_second: 6, load_ms: 150_000, back_ms: 60_000 },
};
const MERCHANTS = 4;
/** Longer than the whole restore: merchants send again what was not answered. Milliseconds. */
const PATIENCE_MS = 900_000;

export const restore: Proof = {
  name: 'restore',
  title:
    "All processes are killed under load and Postgres is restored to a point in time: once reconciled, the record has every order that a merchant saw, equals the processor's ledger, and nothing is charged twice.",
  not_proved: [
    'What only the database knew since then: new merchants, projects and keys, changed fields of orders, pauses of webhooks.',
    'A restore further back than Temporal keeps histories, a Temporal that is restored too, and a processor that forgets its keys.',
    'That every workflow history replays: a thousand are tried, spread evenly.',
    'Backup tools: PostgreSQL archives its WAL and replays it alone.',
  ],
  seeds: [1],
  in_ci: false,
  run,
};

/** What the commands print. */
interface Printed {
  rewritten: number;
  open: string[];
}

async function run({ seed, size, say }: ProofInput): Promise<ProofOutcome> {
  const { load_ms, back_ms, ...rate } = SIZES[size];
  const record = new RecordServer('restore-record');
  const processor = new RecordServer('restore-processor');
  const receiver = await startFailingReceiver(0);
  await Promise.all([record.start(), processor.start()]);
  // The load goes on after the restore, at the same address.
  const api_port = await freePort();
  const own = new OwnStack('restore', () => ({
    POSTGRES_URL: record.url('payments'),
    SIMULATOR_POSTGRES_URL: processor.url('simulator'),
    API_PORT: String(api_port),
    RATE_LIMIT_PER_SECOND: '0',
  }));
  try {
    const stack = await own.start();
    await record.backUp();
    const options = { ...rate, stack, seed, say, merchants: MERCHANTS, webhook_url: receiver.url };
    const loading = runLoad({ ...options, processor_faults: 0, patience_ms: PATIENCE_MS });
    await sleep(load_ms);
    const killed_at = Date.now();
    await own.killAll();
    await record.archive();
    const began = performance.now();
    const seconds = () => Math.round((performance.now() - began) / 1_000);
    const before = await countOrders(record);
    await record.restoreTo(killed_at - back_ms);
    const lost = before - (await countOrders(record));
    const restored = seconds();
    say(`${lost} of ${before} orders are lost`);
    const env = { POSTGRES_URL: record.url('payments') };
    const admin = (...args: string[]) => answerOfAdmin<Printed>(['restore', ...args], { data_dir: own.data_dir, env });
    await admin('begin');
    const again = await own.start();
    const { status } = await new Merchant(again).send('POST', '/v1/orders/', { body: {} });
    const first = await admin('reconcile');
    const second = await admin('reconcile');
    await admin('end', ...(second.open.length > 0 ? ['--accept', 'for the proof'] : []));
    const reconciled = seconds();
    say(`reconciled ${JSON.stringify(first)}`);
    const load = await loading;
    await own.ready();
    const simulator_postgres_url = processor.url('simulator');
    const violations = [
      ...(status === 503 ? [] : [`a new order is answered with ${status} during the restore`]),
      // Money of a request without an answer is recorded when it is repeated: the invariants look at it.
      ...second.open.filter((item) => !item.includes(': The processor approved ')),
      ...(second.rewritten === first.rewritten ? [] : ['a second reconciliation writes more again']),
      ...(await lostOrders(record, load)),
      ...(await checkInvariants(again, { simulator_postgres_url, say })),
    ];
    return {
      counts: {
        'orders, follow-up orders included': before,
        'lost by the restore': lost,
        'objects written again': first.rewritten,
        'listed for a person until their request was repeated': second.open.length,
        'seconds until Postgres was restored': restored,
        'seconds until all was reconciled': reconciled,
      },
      violations: violations.map((violation) => `seed ${seed}: ${violation}`),
      details: `Restored ${back_ms / 1_000} s back. Stories that did not come to their end, as their requests met the restore: ${load.unfinished.length}.`,
    };
  } finally {
    await own.discard();
    await Promise.all([record.discard(), processor.discard(), receiver.close()]);
  }
}

const countOrders = async (record: RecordServer) =>
  await withDatabase(record.url('payments'), async (db) => {
    const [row] = await queryRows<{ orders: number }>(db, 'select count(*)::int as orders from orders');
    return row!.orders;
  });

/** Orders that a merchant got in an answer and that the record does not have. */
const lostOrders = async (record: RecordServer, { order_ids }: Load) =>
  await withDatabase(record.url('payments'), async (db) => {
    const lost = await queryRows<{ id: string }>(
      db,
      `select distinct seen.id from unnest(:order_ids::uuid[]) seen (id)
       where not exists (select 1 from orders o where o.id = seen.id)`,
      { order_ids },
    );
    return lost.map(({ id }) => `order ${id} is lost`);
  });
