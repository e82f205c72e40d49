import { readLedger } from '../../test/support/ledger';
import { numbersFrom } from '../support/random';
import { checkInvariants } from '../invariants';
import type { Proof, ProofInput, ProofOutcome, Size } from '../proof';
import { FaultInjector, isRareFault, NOT_COMPLETE } from '../support/faults';
import { runLoad } from '../support/load';
import { WRONG_NOTIFICATIONS } from '../support/notifications';
import { startFailingReceiver } from '../support/receivers';
import { PROCESSOR_FAULTS, type Load, type SentRequest } from '../support/shop';
import { WiredStack } from '../support/wire';
import { answersAreCut } from './answers-cut';

interface Scope {
  orders: number;
  /** Orders that begin in a second, while fewer than `under_way_max` are under way. */
  per_second: number;
  under_way_max: number;
  storm_ms: number;
  /** How long invariants may take to hold, each. */
  within_ms: number;
}

const SIZES: Record<Size, Scope> = {
  ci: { orders: 150, per_second: 4, under_way_max: 40, storm_ms: 20_000, within_ms: 180_000 },
  full: { orders: 10_000, per_second: 20, under_way_max: 60, storm_ms: 28_000, within_ms: 600_000 },
};
const MERCHANTS = 12;
const SHARE_OF_PROCESSOR_FAULTS = 0.2;
const SHARE_OF_FAILED_WEBHOOKS = 0.15;
/** Of the requests that met no fault at least this share is answered without an error of the server. */
const SUCCESS_LEAST = 0.999;
/** How often a full run injects each kind of fault at least; those of `isRareFault` last for seconds. */
const INJECTIONS_LEAST = { rare: 20, other: 200 };

export const faults: Proof = {
  name: 'faults',
  title:
    'While processes are killed and stopped, servers restart, connections break and the processor fails, orders of all kinds end as they should: every invariant holds once all is quiet.',
  not_proved: [
    'Faults of disks, clocks and memory, a network that splits between several machines, and a Postgres that loses commits.',
    'That a request during a fault is answered; only that nothing is lost, doubled or guessed.',
    'Twenty orders a second at any time: they begin at this rate only while fewer than sixty are under way, which makes about four a second on two cores.',
    'That every history replays: one that recorded what the worker had done in a task that Temporal lost is counted, not a violation. Its workflow starts again from its record (docs/promises.md).',
    'Later attempts of webhooks: the receivers fail the first attempt only, and the run ends before the tenth.',
  ],
  seeds: [1, 2, 3],
  in_ci: true,
  run,
};

async function run({ seed, size, say }: ProofInput): Promise<ProofOutcome> {
  const { orders, storm_ms, within_ms, ...rate } = SIZES[size];
  const receiver = await startFailingReceiver(SHARE_OF_FAILED_WEBHOOKS);
  // All customers come from one address.
  const wired = new WiredStack('faults', () => ({ RATE_LIMIT_PER_SECOND: '0' }));
  const injector = new FaultInjector(
    { wired, random: numbersFrom(seed) },
    { lanes: 2, storm_ms, calm_ms: 20_000, say },
    // A small run has one storm, in which most kinds come once.
    size === 'full' ? 'weighted' : 'equal',
  );
  try {
    const stack = await wired.start();
    const violations = await answersAreCut(wired);
    injector.start();
    const began = performance.now();
    let minutes = 0;
    const load = await runLoad({
      ...{ stack, seed, orders, ...rate, say, merchants: MERCHANTS },
      ...{ webhook_url: receiver.url, processor_faults: SHARE_OF_PROCESSOR_FAULTS },
      onBegun: async () => {
        minutes = (performance.now() - began) / 60_000;
        await injector.stop();
      },
    });
    await wired.own.ready();
    say(`${load.requests.length} requests sent; checking the invariants`);
    const requests = load.requests.filter(({ began, ended }) => !injector.wasThere(began, ended));
    const refused = (await readLedger(undefined, stack)).filter(({ result }) => result === 'declined').length;
    const injections = {
      ...injector.counts(),
      ...prefixed('processor: ', { refuses: refused, ...NONE_AT_PROCESSOR, ...load.processor_faults }),
      ...prefixed('receiver ', receiver.failed),
    };
    let lost_tasks = 0;
    const onLostTask = ({ workflow_id }: { workflow_id: string }) => {
      lost_tasks += 1;
      say(`Temporal lost a task of ${workflow_id}, whose history does not replay`);
    };
    violations.push(
      ...(await checkInvariants(stack, { within_ms, histories_max: Number.POSITIVE_INFINITY, onLostTask, say })).map(
        (violation) => `seed ${seed}: ${violation}`,
      ),
      ...unfinished(load, seed),
      ...failedWithoutFault(requests, seed),
      ...(size === 'full' ? injectedTooRarely(injections, seed) : []),
    );
    return {
      counts: {
        orders,
        requests: load.requests.length,
        'requests that met no fault': requests.length,
        webhooks: receiver.received.length,
        'histories that do not replay after a lost task': lost_tasks,
      },
      injections,
      violations,
      details: `Orders and links by kind, about ${Math.round(orders / minutes)} a minute: ${JSON.stringify(load.begun)}`,
    };
  } finally {
    await injector.end();
    await wired.discard();
    await receiver.close();
  }
}

/** Kinds that did not happen at all are counted too. */
const NONE_AT_PROCESSOR: Record<string, number> = Object.fromEntries([
  ...PROCESSOR_FAULTS.map(({ kind }) => [kind, 0]),
  ...Object.keys(WRONG_NOTIFICATIONS).map((way) => [`notification ${way}`, 0]),
]);

const prefixed = (prefix: string, counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).map(([what, count]) => [`${prefix}${what}`, count]));

/** Kinds that were injected less often than a full run has to. */
function injectedTooRarely(injections: Record<string, number>, seed: number): string[] {
  return Object.entries(injections).flatMap(([kind, times]) => {
    const least = INJECTIONS_LEAST[isRareFault(kind) ? 'rare' : 'other'];
    const is_counted = !kind.endsWith(NOT_COMPLETE);
    return is_counted && times < least ? [`seed ${seed}: ${kind}: ${times} times, ${least} are the least`] : [];
  });
}

/** All that merchants and customers began came to its end once nothing was injected any more. */
const unfinished = ({ unfinished: stories }: Load, seed: number) =>
  stories.map((story) => `seed ${seed}: ${story} did not come to its end`);

/** An error of the server, or a broken connection, without any fault that the request could have met. */
function failedWithoutFault(requests: readonly SentRequest[], seed: number): string[] {
  const failed = requests.filter(
    ({ status, processor_fault }) => processor_fault === undefined && (status === undefined || status >= 500),
  );
  // Of the 430 requests of a small run, two fail in one run of fourteen if one of a thousand fails.
  if (failed.length <= Math.max(2, requests.length * (1 - SUCCESS_LEAST))) return [];
  const examples = failed.slice(0, 5).map(({ what, status, began }) => `${what} ${status ?? 'broken'} at ${began}`);
  return [
    `seed ${seed}: of ${requests.length} requests without a fault ${failed.length} failed: ${examples.join(', ')}`,
  ];
}
