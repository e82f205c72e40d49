import { CancelledFailure } from '@temporalio/common';
import { NewRun, current, type Handler, type TimerScope } from './sandbox';

/** A cancellation scope of one timer. */
class Scope implements TimerScope {
  private readonly cancels = new Set<() => void>();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const { instance } = current.getStore()!;
    return await current.run({ instance, scope: this }, work);
  }

  onCancel(cancel: () => void): void {
    this.cancels.add(cancel);
  }

  cancel(): void {
    for (const cancel of this.cancels) cancel();
  }
}

/** What `@temporalio/workflow` offers, in the sandbox. */
export const WORKFLOW_API = {
  CancellationScope: Scope,
  async condition(isMet: () => boolean, timeout?: number): Promise<boolean | undefined> {
    const { instance } = current.getStore()!;
    if (timeout === undefined) {
      await instance.condition(isMet);
      return undefined;
    }
    let is_over = false;
    const timer = instance.addTimer(timeout, () => (is_over = true));
    let is_met = false;
    await instance.condition(() => (is_met = isMet()) || is_over);
    instance.removeTimer(timer);
    return is_met;
  },
  async sleep(milliseconds: number): Promise<void> {
    const { instance, scope } = current.getStore()!;
    await new Promise<void>((resolve, reject) => {
      const timer = instance.addTimer(milliseconds, resolve);
      scope?.onCancel(() => {
        instance.removeTimer(timer);
        reject(new CancelledFailure('cancelled'));
      });
    });
  },
  setHandler(
    definition: { name: string },
    run: Handler['run'],
    options: { validator?: Handler['validator'] } = {},
  ): void {
    current.getStore()!.instance.setHandler(definition.name, { run, validator: options.validator });
  },
  allHandlersFinished: () => current.getStore()!.instance.handlers_running === 0,
  makeContinueAsNewFunc: () => async (input: unknown) => await Promise.reject(new NewRun(input)),
  workflowInfo: () => ({
    namespace: 'payments',
    continueAsNewSuggested: current.getStore()!.instance.wants_new_run,
    typedSearchAttributes: { get: () => undefined },
  }),
  proxyActivities: () => activitiesOf(false),
  proxyLocalActivities: () => activitiesOf(true),
  setCurrentDetails: () => undefined,
  upsertSearchAttributes: () => undefined,
};

const activitiesOf = (is_local: boolean) =>
  new Proxy(
    {},
    {
      get: (_target, name) => async (input: object) => {
        const { instance } = current.getStore()!;
        return await instance.sandbox.runActivity(instance, String(name), input, is_local);
      },
    },
  );
