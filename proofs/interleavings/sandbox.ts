import { AsyncLocalStorage } from 'node:async_hooks';
import { WorkflowNotFoundError } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure, RetryState } from '@temporalio/common';
import type { Scheduler } from 'fast-check';

/**
 * A stand-in for Temporal that keeps the rules that workflow code relies on: code runs until it waits; then one thing
 * happens (an activity is done, a signal or update arrives, a timer fires), and all conditions are looked at again, the
 * oldest first. What happens next is fast-check's choice. There is no history and no replay.
 */
export class Sandbox {
  /** Epoch milliseconds; also `Date.now()` of all code in it. */
  now = Date.UTC(2030, 0, 15, 12);
  readonly violations: string[] = [];
  /** How often something happened that could have happened at another time. */
  turns = 0;
  private readonly workflows = new Map<string, Instance>();
  private readonly definitions = new Map<string, (input: never) => Promise<unknown>>();
  private activities: Record<string, (input: never, retry: object) => Promise<unknown>> = {};

  constructor(
    private readonly scheduler: Scheduler,
    /** Whether the answer of an activity or a call is lost this time. */
    readonly isLost: () => boolean,
  ) {}

  use(
    definitions: Record<string, (input: never) => Promise<unknown>>,
    activities: Record<string, (input: never, retry: object) => Promise<unknown>>,
  ): void {
    for (const [type, run] of Object.entries(definitions)) this.definitions.set(type, run);
    this.activities = activities;
  }

  /** Resolves when fast-check chooses so. */
  async turn(what: string): Promise<void> {
    this.turns += 1;
    await this.scheduler.schedule(Promise.resolve(), what);
  }

  get(id: string): Instance | undefined {
    const found = this.workflows.get(id);
    return found?.closed === false ? found : undefined;
  }

  /** Temporal's answer about a workflow that is over or unknown. */
  readonly notFound = (id: string) => new WorkflowNotFoundError('workflow over', id, undefined);
  readonly isNotFound = (error: unknown) => error instanceof WorkflowNotFoundError;

  running(): Instance[] {
    return [...this.workflows.values()].filter(({ closed }) => !closed);
  }

  /** Starts the workflow unless it runs. `update` arrives with its first task. */
  start(type: string, id: string, input: unknown): Instance {
    const running = this.get(id);
    if (running !== undefined) return running;
    const instance = new Instance(this, id, (started) => this.definitions.get(type)!(started as never));
    this.workflows.set(id, instance);
    instance.run(input);
    return instance;
  }

  /** Temporal forgets the workflow. */
  lose(id: string): void {
    this.get(id)?.close(undefined);
  }

  /** Evaluates all conditions until none is met. */
  async runUntilBlocked(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (!this.running().some((instance) => instance.unblock())) return;
    }
  }

  /** When the next timer fires; undefined without one. */
  nextTimer(): number | undefined {
    const times = this.running().flatMap((instance) => instance.timers.map(({ at }) => at));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Time passes up to `instant`, and every timer fires at its time. */
  async passTo(instant: number): Promise<void> {
    for (let at = this.nextTimer(); at !== undefined && at <= instant; at = this.nextTimer()) {
      this.now = Math.max(this.now, at);
      for (const workflow of this.running()) workflow.fire(this.now);
      await this.runUntilBlocked();
    }
    this.now = Math.max(this.now, instant);
  }

  /** Runs an activity until it has an answer: what fails or is lost is tried again. */
  async runActivity(instance: Instance, name: string, input: object, is_local: boolean): Promise<unknown> {
    const began = this.now;
    for (let tries = 1; ; tries += 1) {
      await this.turn(`${name} begins`);
      let result: unknown;
      let failure: unknown;
      try {
        result = await this.activities[name]!(input as never, { waited_ms: this.now - began });
      } catch (error) {
        failure = error;
      }
      await this.turn(`${name} answers`);
      // A lost workflow hears of nothing.
      if (instance.closed) return await new Promise(() => undefined);
      if (failure instanceof ApplicationFailure && failure.nonRetryable === true) {
        throw is_local ? failure : new ActivityFailure('', name, '', RetryState.NON_RETRYABLE_FAILURE, '', failure);
      }
      if (failure === undefined && !this.isLost()) return result;
      if (tries > TRIES_MAX) {
        this.violations.push(`${name} fails again and again: ${String((failure as Error | undefined)?.message)}`);
        return await new Promise(() => undefined);
      }
    }
  }
}

const TRIES_MAX = 30;

/** Of the instance whose code runs, and the scope that may cancel it. */
export const current = new AsyncLocalStorage<{ instance: Instance; scope?: TimerScope | undefined }>();

/** What may cancel the timers of the code that runs in it. */
export interface TimerScope {
  onCancel(cancel: () => void): void;
}

interface Timer {
  at: number;
  fire: () => void;
}

export interface Handler {
  run: (...args: never[]) => unknown;
  validator?: ((...args: never[]) => void) | undefined;
}

interface Message {
  args: unknown[];
  resolve: (result: unknown) => void;
  reject: (failure: unknown) => void;
}

/** A run of a workflow. */
export class Instance {
  closed = false;
  result: unknown;
  /** A long history asks for a new run. */
  wants_new_run = false;
  handlers_running = 0;
  timers: Timer[] = [];
  private conditions: { isMet: () => boolean; resolve: () => void }[] = [];
  private readonly handlers = new Map<string, Handler>();
  private readonly waiting = new Map<string, Message[]>();
  private readonly open = new Set<Message>();

  constructor(
    readonly sandbox: Sandbox,
    readonly id: string,
    private readonly workflow: (input: unknown) => Promise<unknown>,
  ) {}

  run(input: unknown): void {
    current.run({ instance: this }, () => {
      this.workflow(input).then(
        (result) => this.close(result),
        (failure: unknown) => this.failed(failure),
      );
    });
  }

  /** A new run has the handlers and timers that its own code sets. */
  private failed(failure: unknown): void {
    if (failure instanceof NewRun) {
      this.wants_new_run = false;
      this.conditions = [];
      this.timers = [];
      return this.run(failure.input);
    }
    if (!this.closed) this.sandbox.violations.push(`${this.id} failed: ${String((failure as Error).message)}`);
    this.close(undefined);
  }

  close(result: unknown): void {
    if (this.closed) return;
    this.closed = true;
    this.result = result;
    this.conditions = [];
    this.timers = [];
    for (const message of this.open) message.reject(this.sandbox.notFound(this.id));
  }

  setHandler(name: string, handler: Handler): void {
    this.handlers.set(name, handler);
    for (const message of this.waiting.get(name) ?? []) this.handle(handler, message);
    this.waiting.delete(name);
  }

  /** A signal or update arrives now; resolves with the result of its handler. */
  async receive(name: string, args: unknown[]): Promise<unknown> {
    if (this.closed) throw this.sandbox.notFound(this.id);
    return await new Promise((resolve, reject) => {
      const message = { args, resolve, reject };
      this.open.add(message);
      const handler = this.handlers.get(name);
      if (handler !== undefined) this.handle(handler, message);
      else this.waiting.set(name, [...(this.waiting.get(name) ?? []), message]);
    });
  }

  private handle({ run, validator }: Handler, { args, resolve, reject }: Message): void {
    current.run({ instance: this }, () => {
      try {
        validator?.(...(args as never[]));
      } catch (error) {
        return reject(error);
      }
      this.handlers_running += 1;
      const handling = Promise.resolve().then(() => run(...(args as never[])));
      void handling.then(resolve, reject).finally(() => (this.handlers_running -= 1));
    });
  }

  async condition(isMet: () => boolean): Promise<void> {
    if (isMet()) return;
    await new Promise<void>((resolve) => this.conditions.push({ isMet, resolve }));
  }

  /** Wakes what waits for a condition that is met now. Returns whether there was one. */
  unblock(): boolean {
    const met = current.run({ instance: this }, () => this.conditions.filter(({ isMet }) => isMet()));
    this.conditions = this.conditions.filter((one) => !met.includes(one));
    for (const { resolve } of met) resolve();
    return met.length > 0;
  }

  addTimer(milliseconds: number, fire: () => void): Timer {
    const timer = { at: this.sandbox.now + milliseconds, fire };
    this.timers.push(timer);
    return timer;
  }

  removeTimer(timer: Timer): void {
    this.timers = this.timers.filter((one) => one !== timer);
  }

  fire(now: number): void {
    const due = this.timers.filter(({ at }) => at <= now);
    this.timers = this.timers.filter((one) => !due.includes(one));
    for (const { fire } of due) fire();
  }
}

/** Thrown by the function of `makeContinueAsNewFunc`. */
export class NewRun extends Error {
  constructor(readonly input: unknown) {
    super('continues in a new run');
  }
}
