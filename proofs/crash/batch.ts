import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Receiver } from '../../test/support/servers';
import { CrashActor, type CrashWorld } from './actor';
import { stateOf, type State } from './check';
import type { Flow } from './flow';
import type { CrashPoint, Victim } from './messages';
import type { CrashStack, Seen } from './stack';

/** A flow whose process is killed at one of its calls. */
export interface Case {
  flow: Flow;
  victim: Victim;
  point: CrashPoint;
}

/** `sale:worker:7:after` */
export const nameOf = ({ flow, victim, point }: Case) => `${flow.name}:${victim}:${point.call}:${point.side}`;

/** Everything that the flows of a proof are made with. */
export interface Setting {
  stack: CrashStack;
  world: CrashWorld;
  temporal: Client;
  receiver: Receiver;
  /** Ids that all flows share. */
  shared_ids: string[];
}

/** A flow that is under way. */
export interface Running {
  flow: Flow;
  actor: CrashActor;
  /** Settles when its merchant and its customer have done everything; the failure if they could not. */
  acted: Promise<string | undefined>;
  isOver: () => boolean;
}

/** Stopped calls hold locks and time limits: the longest time between the first one and the kill. Milliseconds. */
const HOLD_MS = 5_000;
/** After this time since the last change of any flow, no other call is waited for. Milliseconds. */
const IDLE_MS = 25_000;

let started = 0;

/** Begins the flows, whose calls are numbered by the victims. */
export async function begin(
  { stack, world, receiver, shared_ids }: Setting,
  flows: readonly { flow: Flow; point?: CrashPoint }[],
  victims: readonly Victim[],
): Promise<Running[]> {
  started += 1;
  const begun = flows.map((one, n) => ({ ...one, marker: `crash-${started}-${n}` }));
  const with_index = flows.some(({ flow }) => flow.with_index);
  for (const victim of victims) await stack.order(victim, { flows: begun, shared_ids, with_index });
  for (const { marker, flow } of begun) refuse(receiver, marker, flow.refused_webhooks ?? 0);
  return begun.map(({ flow, marker }) => {
    const actor = new CrashActor(world, marker);
    let is_over = false;
    const acted = flow
      .act(actor)
      .then(() => undefined)
      .catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
      .finally(() => (is_over = true));
    return { flow, actor, acted, isOver: () => is_over };
  });
}

/** Webhooks that the receiver still refuses, by the marker of the flow. */
const refusals = new Map<string, number>();

function refuse(receiver: Receiver, marker: string, times: number): void {
  refusals.set(marker, times);
  receiver.answer((response, _n, { path }) => {
    const of = path.split('/').at(-1) ?? '';
    const left = refusals.get(of) ?? 0;
    refusals.set(of, left - 1);
    response.writeHead(left > 0 ? 503 : 200).end();
  });
}

/** The ids of the webhooks that the receiver got for a flow. */
function receivedBy({ received }: Receiver, marker: string): Set<string> {
  const own = received.filter(({ path }) => path.endsWith(`/${marker}`));
  return new Set(own.map(({ headers }) => String(headers['webhook-id'])));
}

/** The state of a flow once it is as expected; otherwise as it is when the time is up. */
export async function stateWithin(
  { temporal, receiver }: Setting,
  { flow, actor }: Running,
  { expected, isTimeUp }: { expected: State | undefined; isTimeUp: () => boolean },
): Promise<{ state: State; is_expected: boolean }> {
  for (;;) {
    const state = await stateOf(actor, { temporal, received: receivedBy(receiver, actor.marker) });
    const is_expected = state.ends === flow.ends && state.wrong.length === 0 && isSame(state, expected);
    if (is_expected || isTimeUp()) return { state, is_expected };
    await sleep(PAUSE_MS);
  }
}

const PAUSE_MS = 1_000;

const isSame = (state: State, expected: State | undefined) =>
  expected === undefined || differences(state, expected).length === 0;

/** What of a state differs from another one, in words. */
export function differences(state: State, expected: State): string[] {
  return state.details.flatMap((line, i) =>
    line === expected.details[i] ? [] : [`${line}, not ${expected.details[i]}`],
  );
}

/**
 * Runs the cases at the same time, up to their crash points, and kills their victim once all have stopped there. A case
 * whose flow has not come to its point by then is `missed`: it was killed somewhere else. Returns with the flows under
 * way.
 */
export async function crash(
  setting: Setting,
  cases: readonly Case[],
): Promise<{ running: Running[]; stopped: (Seen['stopped'] | undefined)[] }> {
  const { stack } = setting;
  const { victim } = cases[0]!;
  const running = await begin(setting, cases, [victim]);
  const seenOf = ({ actor }: Running) => stack.of(victim, actor.marker);
  const began = performance.now();
  let [first_stop, last_change, calls] = [Infinity, began, 0];
  for (;;) {
    await sleep(20);
    const now = performance.now();
    const seen = running.map(seenOf);
    const counted = seen.reduce((sum, one) => sum + one.calls.length, 0);
    if (counted !== calls) last_change = now;
    calls = counted;
    if (seen.some(({ stopped }) => stopped !== undefined)) first_stop = Math.min(first_stop, now);
    if (seen.every(({ stopped }) => stopped !== undefined)) break;
    if (now - first_stop > HOLD_MS || (first_stop === Infinity && now - last_change > IDLE_MS)) break;
  }
  const stopped = running.map((one) => seenOf(one).stopped);
  if (stopped.some((one) => one !== undefined)) await stack.kill(victim);
  else await stack.order(victim, { flows: [], shared_ids: [], with_index: false });
  return { running, stopped };
}
