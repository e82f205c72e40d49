import { connectDatabase } from '../db/connection';
import { PAID_ORDER, createRows } from './rows';
import { measureIndex } from './search-index';
import { searchMerchant } from './search-merchant';
import { measurePaidOrders } from './search-paid';
import { measureQueries } from './search-queries';
import { measureReport } from './search-reports';
import * as report from './search-report';
import type { Receiver } from './receiver';
import type { BenchStack } from './stack';

/** How much is measured: samples of each query, seconds of changes, rounds and seconds of paid orders. */
export interface SearchPlan {
  rows: number;
  samples: number;
  change_seconds: number;
  rounds: number;
  paid_seconds: number;
}

/** The parts of the measurement, in this order; each can run alone. */
export const SEARCH_STEPS = ['queries', 'reports', 'paid'] as const;
export type SearchStep = (typeof SEARCH_STEPS)[number];

/** A part of BENCHMARKS.md, by its marker. */
export interface SearchFigures {
  name: 'index' | SearchStep;
  text: string;
}

/**
 * Measures search on a stack of its own, whose index is empty; yields each part of the figures when it is measured.
 * `say` tells how far it is.
 */
export async function* measureSearch(
  stack: BenchStack,
  receiver: Receiver,
  plan: SearchPlan,
  steps: readonly SearchStep[],
  say: (text: string) => void,
): AsyncGenerator<SearchFigures> {
  const db = connectDatabase(stack.facts.postgres_url);
  const merchant = searchMerchant(stack);
  try {
    yield { name: 'index', text: report.indexReport(await measureIndex(db, stack, merchant, plan.rows, say)) };
    for (const name of SEARCH_STEPS.filter((step) => steps.includes(step))) {
      say(`measuring ${name}`);
      yield { name, text: await measure(name) };
    }
  } finally {
    await merchant.close();
    await db.destroy();
  }

  async function measure(step: SearchStep): Promise<string> {
    switch (step) {
      case 'queries':
        return report.queriesReport(await measureQueries(db, merchant, plan));
      case 'reports':
        return report.reportsReport([
          await measureReport(stack, merchant, 'all orders, by Postgres', '*'),
          await measureReport(stack, merchant, 'paid transactions, by the index', 'transaction.status:accepted'),
        ]);
      case 'paid': {
        const { rows, close } = await createRows(stack, receiver);
        try {
          const row = rows.find(({ name }) => name === PAID_ORDER)!;
          const onRound = (round: number) => say(`paid orders, round ${round} of ${plan.rounds}`);
          return report.paidReport(await measurePaidOrders(db, stack, row, plan, onRound));
        } finally {
          await close();
        }
      }
    }
  }
}
