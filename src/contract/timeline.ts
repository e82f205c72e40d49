import { z } from 'zod';
import { EVENT_SOURCES } from '../domain/transaction';
import { flagParam, limitParam, timestampOutput, idOutput } from './scalars';

/** The history of an order, and the events it waits for (rules 23.1). */
export const timelineSchema = z.strictObject({
  entries: z
    .array(
      z.strictObject({
        at: timestampOutput(),
        event: z
          .string()
          .describe('`order.<status>`, `transaction.<status>`, `webhook.attempt`, `processor.asked` or `clock.moved`.')
          .meta({ examples: ['order.completed'] }),
        text: z.string().describe('Description of the event.'),
        by: z.enum(EVENT_SOURCES).describe('The party that caused it.'),
        order_id: idOutput().optional().describe('The follow-up order that it happened to.'),
        transaction_id: idOutput().optional(),
        delivery: z.int().optional().describe('Number of the webhook.'),
      }),
    )
    .describe('Oldest first.'),
  next: z
    .array(
      z.strictObject({
        at: timestampOutput().optional().describe('Absent for a webhook that is paused.'),
        event: z.string(),
        text: z.string(),
      }),
    )
    .describe('Awaited events and their times, the next first; empty when nothing is awaited.'),
  forecast: z
    .array(
      z.strictObject({
        at: timestampOutput(),
        event: z
          .string()
          .describe('As in `entries`, or `webhook.attempts_removed`: the attempts of the webhook are no longer kept.'),
        text: z.string(),
        rule: z
          .string()
          .describe('Number of the rule by which it happens.')
          .meta({ examples: ['7.1'] }),
        order_id: idOutput().optional().describe('The follow-up order that it will happen to.'),
        transaction_id: idOutput().optional(),
        delivery: z.int().optional().describe('Number of the webhook.'),
      }),
    )
    .optional()
    .describe('With `forecast=true`: everything that will happen if nobody acts, the next first.'),
  cursor: z.string().optional().describe('The `cursor` of the next page; absent on the last one.'),
});

/** Entries of a timeline in one answer; few orders have more. */
const ENTRIES_LIMIT = { default: 1_000, most: 1_000 };

/** The query of a timeline. */
export const timelineQuery = z.strictObject({
  forecast: flagParam().optional().describe('`true`: the answer has `forecast`.'),
  limit: limitParam(ENTRIES_LIMIT).describe('Entries in the answer.'),
  cursor: z.string().max(32).optional().describe('`cursor` of the page before; absent: the first page.'),
});
