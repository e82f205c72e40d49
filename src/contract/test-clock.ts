import { z } from 'zod';
import { LONGEST } from '../domain/duration';
import { duration, instant } from './scalars';

/** The body that moves the clock of an order or payment link ahead (rules 23.5): by a period, or to an instant. */
export const testClockRequestSchema = z
  .object({
    advance: duration(LONGEST.sandbox_clock)
      .optional()
      .describe(`By how much: PT1S to ${LONGEST.sandbox_clock}; moves add up to ${LONGEST.sandbox_clock} at most.`),
    to: instant().optional().describe('Target time, later than the current time of the object.'),
  })
  .superRefine(({ advance, to }, context) => {
    if ((advance === undefined) !== (to === undefined)) return;
    context.addIssue({ code: 'custom', path: ['advance'], message: 'Expected either advance or to.', input: advance });
  });
