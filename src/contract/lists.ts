import { z } from 'zod';
import { limitParam, overlap } from './scalars';

/** Default number of objects in a page (rules 21.8). */
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

/** The query of a list. Strict: a misspelt filter must not return everything. */
export const pageQuery = <Shape extends z.ZodRawShape>(filters: Shape) =>
  z.strictObject({
    ...filters,
    limit: limitParam({ default: LIMIT_DEFAULT, most: LIMIT_MAX }).describe('Objects in the answer.'),
    cursor: z.string().max(1024).optional().describe('`next` of the page before; absent: the first page.'),
  });

/** The answer of a list. */
export const pageSchema = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    items: z.array(item).describe('Newest first.'),
    next: z.string().optional().describe('The cursor of the next page; absent on the last one.'),
  });

/** The body of a roll: how long the replaced key or secret keeps working. */
export const overlapRequest = (standard: string) =>
  z.object({
    overlap: overlap()
      .optional()
      .describe(
        `How long the replaced key or secret keeps working: ${standard} by default, P30D at most; PT0S ends it at once.`,
      ),
  });
