import { memoryOf, watchMemory } from './memory';
import type { SearchMerchant } from './search-merchant';
import type { BenchStack } from './stack';

export interface ReportFigures {
  name: string;
  rows: number;
  rows_per_second: number;
  memory_before: number;
  memory_max: number;
}

/** Downloads a report, and watches the memory of the api. */
export async function measureReport(
  { facts }: BenchStack,
  merchant: SearchMerchant,
  name: string,
  query: string,
): Promise<ReportFigures> {
  const memory_before = memoryOf(facts.pids['api'], 'VmRSS');
  const watch = watchMemory(facts.pids['api'], 'VmRSS');
  try {
    const began = performance.now();
    let lines = 0;
    for await (const chunk of (await merchant.report(query)) as AsyncIterable<Buffer>) {
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
    }
    const rows = lines - 1;
    const rows_per_second = (rows * 1_000) / (performance.now() - began);
    return { name, rows, rows_per_second, memory_before, memory_max: watch.most() };
  } finally {
    watch.stop();
  }
}
