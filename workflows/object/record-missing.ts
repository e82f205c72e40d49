import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  setCurrentDetails,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { RECORD_LOST } from '../../src/domain/attention';
import { RECORD_MISSING } from '../messages';
import { ATTENTION } from '../search-attributes';

/**
 * Ends a workflow of any kind whose record no longer exists (rules 10.19), with `Attention`. Each run of a workflow has
 * one watch.
 */
export class RecordWatch {
  private missing: ApplicationFailure | undefined;

  /** Runs an activity. After one has found the record missing, all others fail at once with the same failure. */
  async runActivity<Result>(activity: () => Promise<Result>): Promise<Result> {
    if (this.missing !== undefined) throw this.missing;
    try {
      return await activity();
    } catch (error) {
      // The failure of a local activity is not wrapped in an ActivityFailure.
      const failure = error instanceof ActivityFailure ? error.cause : error;
      if (failure instanceof ApplicationFailure && failure.type === RECORD_MISSING) this.missing = failure;
      throw error;
    }
  }

  /** Runs the workflow. Returns its result, or `record-missing`. */
  async runWorkflow(workflow: () => Promise<unknown>): Promise<unknown> {
    try {
      const result = await Promise.race([workflow(), condition(() => this.missing !== undefined)]);
      if (this.missing === undefined) return result;
    } catch (error) {
      if (this.missing === undefined) throw error;
    }
    upsertSearchAttributes([{ key: ATTENTION, value: RECORD_LOST }]);
    setCurrentDetails(`**Attention: ${RECORD_LOST}.**\n\nNot found: ${this.missing.message}.`);
    await condition(allHandlersFinished);
    return 'record-missing';
  }
}
