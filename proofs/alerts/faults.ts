import { setTimeout as sleep } from 'node:timers/promises';
import { queryRows, type Database } from '../../src/db/query';
import type { Receiver } from '../../test/support/servers';
import { callSimulator, postControl, type OwnStack, type RunningStack } from '../../test/support/stack';
import { setReadOnly } from '../support/faults';
import {
  blockWorkflowThreads,
  startUnknownWorkflows,
  withArchiveThatFails,
  withCertificateThatEnds,
  withClockBehind,
  withIndexThatRefuses,
  withMoneyThatDiffers,
  withRolledKeyInUse,
} from './live-faults';
import { RATE, type SteadyLoad } from './load';
import type { Expected } from './rule-tests';

/** What a fault acts on. */
export interface Scene {
  own: OwnStack;
  stack: RunningStack;
  /** As superuser. */
  db: Database;
  load: SteadyLoad;
  receiver: Receiver;
  /** The addresses of the metrics that are scraped, by the name of the process. */
  targets: Map<string, string>;
}

/** A fault of the stack, and the alerts that have to fire. */
export interface AlertFault {
  name: string;
  what: string;
  expected: readonly Expected[];
  /** Makes the fault, lets it last, and ends it. */
  inject: (scene: Scene) => Promise<void>;
}

const SECOND = 1_000;
const fires = (alert: string): Expected => ({ alert });
const burns = (slo: string, speed = 'Fast'): Expected => ({ alert: `ErrorBudgetBurn${speed}`, slo });

/** The receiver answers 500 while the work runs. */
async function withFailingReceiver(receiver: Receiver, work: () => Promise<void>): Promise<void> {
  receiver.answer((response) => void response.writeHead(500).end());
  try {
    await work();
  } finally {
    receiver.answer((response) => void response.writeHead(200).end());
  }
}

/** Orders come at another rate, in orders a second, while the work runs. */
async function withRate(load: SteadyLoad, rate: number, work: () => Promise<void>): Promise<void> {
  load.rate = rate;
  try {
    await work();
  } finally {
    load.rate = RATE;
  }
}

/** A session has a table locked, given as `lock table` takes it, while the work runs. */
async function withLock(db: Database, table: string, work: () => Promise<void>): Promise<void> {
  await db.transaction(async (transaction) => {
    await queryRows(transaction, 'set local idle_in_transaction_session_timeout = 0');
    await queryRows(transaction, `lock table ${table}`);
    await work();
  });
}

/** Those that are felt longest come last. */
export const ALERT_FAULTS: readonly AlertFault[] = [
  {
    name: 'charges-declined',
    what: 'the issuer declines every charge.',
    expected: [fires('ChargeSuccessHalved')],
    async inject({ load }) {
      load.card = 'do_not_honor';
      await sleep(60 * SECOND);
      load.card = 'approved';
    },
  },
  {
    name: 'receiver-away',
    what: 'the receiver of webhooks answers 500.',
    expected: [fires('WebhooksFail')],
    inject: ({ receiver }) => withFailingReceiver(receiver, () => sleep(45 * SECOND)),
  },
  {
    name: 'money-differs',
    what: 'the record has another amount of a payment than the processor, and the audit compares them.',
    expected: [fires('MoneyDiffers')],
    // The figures are read every ten seconds.
    inject: ({ stack, db }) => withMoneyThatDiffers(stack, db, () => sleep(20 * SECOND)),
  },
  {
    name: 'rolled-key-in-use',
    what: 'a client uses an API key that was rolled a day ago and ends in ten hours.',
    expected: [fires('RolledKeyInUse')],
    inject: ({ stack, db }) => withRolledKeyInUse(stack, db, () => sleep(80 * SECOND)),
  },
  {
    name: 'search-refuses-orders',
    what: 'the search index was made again by hand, with a primary key that orders do not have.',
    expected: [fires('SearchIndexRefusesOrders')],
    inject: ({ stack, db }) => withIndexThatRefuses(stack, db, () => sleep(30 * SECOND)),
  },
  {
    name: 'figures-locked',
    what: 'a lock keeps the worker from reading the figures of the record.',
    expected: [fires('FiguresMissing')],
    // A read waits for the lock until its time limit; the next one comes ten seconds later.
    inject: ({ db }) => withLock(db, 'search_refusals in access exclusive mode', () => sleep(45 * SECOND)),
  },
  {
    name: 'archive-fails',
    what: 'Postgres cannot archive its log; when it last did is told 20 minutes earlier. The only check of a backup has failed, and is made nine days older.',
    expected: ['ArchiveFails', 'ArchiveOld', 'BackupCheckOld'].map(fires),
    inject: ({ own, db }) => withArchiveThatFails(own, db, () => sleep(150 * SECOND)),
  },
  {
    name: 'clock-behind',
    what: 'the clock of the database is 0.8 s behind that of the machine.',
    expected: [fires('ClockWrong')],
    inject: ({ db }) => withClockBehind(db, 0.8, () => sleep(30 * SECOND)),
  },
  {
    name: 'workflow-of-another-release',
    what: 'workflows are started whose type the workers do not know.',
    expected: [fires('WorkflowTasksFail')],
    inject: ({ stack }) => startUnknownWorkflows(stack, 30),
  },
  {
    name: 'workflow-thread-blocked',
    what: 'an endless loop runs in the workflow threads of the only worker, and orders go on to come.',
    expected: ['WorkflowThreadBlocked', 'NoFreeSlots'].map(fires),
    async inject({ own, load }) {
      await withRate(load, 3 * RATE, () => blockWorkflowThreads(own, 35 * SECOND));
      await sleep(20 * SECOND);
    },
  },
  {
    name: 'recovery-locked',
    what: 'a lock keeps recovery from recording its progress. Beside it a process has a certificate that ends in ten days.',
    expected: ['RecoveryBehind', 'CertificateExpires'].map(fires),
    async inject({ stack, db, targets }) {
      await withCertificateThatEnds(stack, 10, async (metrics_url) => {
        targets.set('manage-with-tls', metrics_url);
        await withLock(db, 'recovery_progress in exclusive mode', () => sleep(160 * SECOND));
        targets.delete('manage-with-tls');
      });
    },
  },
  {
    name: 'search-stopped',
    what: 'Meilisearch stands still.',
    expected: [fires('SearchIndexBehind')],
    async inject({ own }) {
      await own.without('meilisearch', () => sleep(95 * SECOND));
      // Only now the delayed changes are found.
      await sleep(20 * SECOND);
    },
  },
  {
    name: 'worker-stopped',
    what: 'the only worker stands still.',
    expected: ['TargetDown', 'NoLeaseHolder'].map(fires).concat(burns('available')),
    async inject({ own }) {
      await own.without('worker', () => sleep(30 * SECOND));
      await sleep(15 * SECOND);
    },
  },
  {
    name: 'postgres-read-only',
    what: 'Postgres refuses to write, as after a failover to a standby.',
    expected: ['PostgresUnavailable', 'PostgresErrors'].map(fires).concat(burns('available')),
    async inject({ db }) {
      await setReadOnly(db, true);
      try {
        await sleep(30 * SECOND);
      } finally {
        await setReadOnly(db, false);
      }
    },
  },
  {
    name: 'postgres-slow',
    what: 'a lock on the table of orders makes every statement about orders wait.',
    expected: ['PostgresPoolExhausted', 'PostgresErrors', 'CreateOrderSlow'].map(fires),
    inject: ({ db, load }) =>
      withRate(load, 10, () => withLock(db, 'orders in access exclusive mode', () => sleep(40 * SECOND))),
  },
  {
    name: 'temporal-stopped',
    what: 'Temporal stands still. Charges that are under way end, and their webhooks wait for it.',
    expected: [
      ...['TemporalUnavailable', 'WebhooksBehind'].map(fires),
      ...['Fast', 'Medium', 'Slow'].map((speed) => burns('available', speed)),
    ],
    async inject({ own, stack }) {
      await postControl(stack, 'faults', { kind: 'latency', operation: 'sale', milliseconds: 1_500 });
      try {
        await sleep(5 * SECOND);
        await own.without('temporal', () => sleep(100 * SECOND));
      } finally {
        await callSimulator(stack, '/control/faults/', { method: 'DELETE' });
      }
      // The slow alert takes an hour from the first errors, which come when requests time out.
      await sleep(50 * SECOND);
    },
  },
  {
    name: 'processor-silent',
    what: 'the processor takes charges and questions and does not answer. The record of the oldest unknown outcome is made 20 minutes older.',
    expected: ['ProcessorUnavailable', 'UnknownOutcomeOld', 'CreateOrderSlow'].map(fires).concat(burns('paid_order')),
    async inject({ stack, db, load }) {
      for (const operation of ['sale', 'ask']) {
        await postControl(stack, 'faults', { kind: 'no_answer', operation, milliseconds: 600_000 });
      }
      try {
        await withRate(load, 40, async () => {
          await sleep(50 * SECOND);
          await queryRows(
            db,
            `update transactions set modified = modified - interval '20 minutes' where status = 'processing'`,
          );
          await sleep(30 * SECOND);
        });
      } finally {
        await callSimulator(stack, '/control/faults/', { method: 'DELETE' });
      }
    },
  },
];
