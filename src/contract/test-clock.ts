import { z } from 'zod';
import { MAX_DURATION } from '../domain/duration';
import { duration, instant } from './scalars';

/** The body that advances the clock of an order or payment link (rules 23.5): by a period, or to an instant. */
export const testClockRequestSchema = z
  .object({
    advance: duration(MAX_DURATION.sandbox_clock)
      .optional()
      .describe(
        `By how much: PT1S to ${MAX_DURATION.sandbox_clock}; advances add up to ${MAX_DURATION.sandbox_clock} at most.`,
      ),
    to: instant().optional().describe('Target time, later than the current time of the object.'),
  })
  .superRefine(({ advance, to }, context) => {
    if ((advance === undefined) !== (to === undefined)) return;
    context.addIssue({ code: 'custom', path: ['advance'], message: 'Expected either advance or to.', input: advance });
  });
