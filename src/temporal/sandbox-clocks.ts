import type { AcceptedRequest } from '../domain/accepted-request';
import type { StartedClock } from '../domain/sandbox-clock';
import { advanceClockUpdate, type AdvanceClockInput } from '../../workflows/messages';
import { callThenRead, type TemporalAccess } from './call';
import { KINDS, type ReadableKind } from './kinds';
import { startAndUpdate, startWorkflow } from './object-workflows';

/** The owner of a clock: a payment order or payment link. */
export interface ClockOwner {
  id: string;
  project_id: string;
}

/**
 * Workflows of sandbox clocks. An advance returns the object as stored afterwards, also when it is still under way.
 * Throws ValidationError when it goes back or too far. A repeat joins the same advance.
 */
export class SandboxClockWorkflows {
  constructor(private readonly temporal: TemporalAccess) {}

  /** Starts the clock's workflow unless it is running: it continues a lost advance, and carries out due actions. */
  async start(clock: StartedClock): Promise<void> {
    await startWorkflow(this.temporal.client, KINDS.sandbox_clock, clock);
  }

  /** Advances the clock of a payment order or payment link, its orders, their follow-up orders and webhooks. */
  async advance<Stored>(
    kind: ReadableKind<Stored>,
    { id, project_id }: ClockOwner,
    input: AdvanceClockInput,
    request: AcceptedRequest,
  ): Promise<Stored> {
    const start = { kind: KINDS.sandbox_clock, object: { clock_id: id, project_id } };
    return await callThenRead(this.temporal, { kind, id, request, purpose: 'change' }, () =>
      startAndUpdate(this.temporal.client, start, {
        definition: advanceClockUpdate,
        updateId: input.request_id,
        args: [input],
      }),
    );
  }
}
