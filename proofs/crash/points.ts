import { AsyncLocalStorage } from 'node:async_hooks';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { socketOf, type CrashPoint, type Orders, type Report, type Side, type Victim } from './messages';

/** A flow as a process counts it. */
interface Flow {
  marker: string;
  calls: number;
  point: CrashPoint | undefined;
}

/** The work that a call belongs to: a request, an activity, a batch of the indexer. */
export interface TracedWork {
  flow?: Flow | undefined;
  /** Text that names the flow or one of its ids; read until the flow is found. */
  text: () => string;
  /** Whose work it is, unless it is that of a request or activity. */
  of?: string;
}

/** One call: its name, text with ids in it, and whether it only reads. */
interface Call {
  what: string;
  text: string;
  is_read?: boolean;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const MARKER = /crash-\d+-\d+/g;

/**
 * Numbers the outside calls of a process by flow, and stops a flow at its crash point: the call before it is sent, or
 * its answer before anybody sees it. A stopped call never continues; the proof kills the process.
 *
 * A call is of a flow if the work that makes it is: the request carries the flow's header, or the input of the activity
 * names the flow or an id that an earlier call of the flow named. Calls of loops, pollers and schedules are of no flow.
 */
export class CrashPoints {
  readonly work = new AsyncLocalStorage<TracedWork>();
  private readonly flows = new Map<string, Flow>();
  /** The flow of each id that was seen with one; `null`: an id of several flows. */
  private readonly owners = new Map<string, Flow | null>();
  private readonly socket: Socket;
  with_index = false;

  constructor(victim: Victim, data_dir: string) {
    this.socket = connect(socketOf(data_dir));
    // The proof is over, or is not there: the process serves without it.
    this.socket.on('error', () => undefined);
    this.socket.unref();
    createInterface({ input: this.socket }).on('line', (line) => this.obey(JSON.parse(line) as Orders));
    this.report({ kind: 'started', victim, pid: process.pid });
  }

  /** Makes a call of the work that is under way, with its number. */
  async around<T>({ what, text, is_read = false }: Call, call: () => Promise<T>, flow = this.flowOf(text)): Promise<T> {
    const number = this.count(flow, what, is_read);
    if (flow === undefined || number === undefined) return await call();
    await this.stopAt(flow, number, 'before', what);
    try {
      return await call();
    } finally {
      await this.stopAt(flow, number, 'after', what);
    }
  }

  /** As `around`, for a call that answers through a callback. */
  callback<Args extends unknown[]>(
    { what, text, is_read = false }: Call,
    send: (answered: (...args: Args) => void) => void,
    answered: (...args: Args) => void,
  ): void {
    const flow = this.flowOf(text);
    const number = this.count(flow, what, is_read);
    if (flow === undefined || number === undefined) return send(answered);
    if (this.isStopped(flow, number, 'before', what)) return;
    send((...args) => {
      if (!this.isStopped(flow, number, 'after', what)) answered(...args);
    });
  }

  /** The flow that this text names, or an id in it. Ids beside a known one belong to the same flow from then on. */
  find(text: string): Flow | undefined {
    if (this.flows.size === 0) return undefined;
    const ids = new Set(text.match(UUID));
    const markers = [...new Set(text.match(MARKER))].flatMap((marker) => this.flows.get(marker) ?? []);
    const owners = [...ids].flatMap((id) => this.owners.get(id) ?? []);
    const found = new Set([...markers, ...owners]);
    if (found.size !== 1) return undefined;
    const [flow] = found;
    this.learn(ids, flow!);
    return flow;
  }

  /** What was seen with a flow is of this flow, unless it was seen with another. */
  private learn(ids: Iterable<string>, flow: Flow): void {
    for (const id of ids) {
      const owner = this.owners.get(id);
      if (owner === undefined) this.owners.set(id, flow);
      else if (owner !== flow) this.owners.set(id, null);
    }
  }

  private flowOf(text: string): Flow | undefined {
    const work = this.work.getStore();
    if (work === undefined || this.flows.size === 0) return undefined;
    work.flow ??= this.find(`${work.text()} ${text}`);
    if (work.flow !== undefined) this.learn(new Set(text.match(UUID)), work.flow);
    return work.flow;
  }

  private count(flow: Flow | undefined, what: string, is_read: boolean): number | undefined {
    if (flow === undefined) return undefined;
    flow.calls += 1;
    const of = this.work.getStore()?.of;
    const named = of === undefined ? what : `${of}, ${what}`;
    this.report({ kind: 'call', marker: flow.marker, call: flow.calls, what: named, is_read });
    return flow.calls;
  }

  private async stopAt(flow: Flow, call: number, side: Side, what: string): Promise<void> {
    if (this.isStopped(flow, call, side, what)) await new Promise(() => undefined);
  }

  private isStopped({ marker, point }: Flow, call: number, side: Side, what: string): boolean {
    if (point?.call !== call || point.side !== side) return false;
    this.report({ kind: 'stopped', marker, point, what });
    return true;
  }

  private obey({ flows, shared_ids, with_index }: Orders): void {
    this.with_index = with_index;
    this.flows.clear();
    this.owners.clear();
    for (const id of shared_ids) this.owners.set(id, null);
    for (const { marker, point } of flows) this.flows.set(marker, { marker, point, calls: 0 });
    this.report({ kind: 'obeys' });
  }

  private report(report: Report): void {
    this.socket.write(`${JSON.stringify(report)}\n`);
  }
}
