/**
 * Every timer of the service by name, and what is seen of its object before its end and from then on. Tests let the
 * time of Temporal pass to the end, and move the sandbox clock there: both see the same.
 */
export const TIMERS = {
  'the end of an order': { before: 'new:', after: 'expired:' },
  'the end of a transaction, before that of its order': { before: 'new: new', after: 'expired: expired' },
  'a customer who never finishes 3-D Secure': { before: 'processing: pending', after: 'expired: expired' },
  'the last question about a late approval': { before: 'watched', after: 'not watched' },
  'the capture window of a manual authorization': {
    before: 'completed: accepted',
    after: 'completed: expired; void completed',
  },
  'a delayed capture': { before: 'completed: accepted', after: 'completed: accepted; capture completed' },
  'two minutes after the first webhook attempt': { before: '1 attempt', after: '2 attempts' },
  'the end of a payment link': { before: 'new', after: 'expired' },
  'the end of an order of a payment link': { before: 'processing', after: 'all_unsuccessful' },
} as const satisfies Record<string, { before: string; after: string }>;

export type TimerName = keyof typeof TIMERS;
