import { closingOf, isWindowClosed, openAuthorization, type Authorization } from '../../../src/domain/authorization';
import type { Closing, OrderSnapshot, TransactionSnapshot } from '../../../src/domain/order-snapshot';
import type { TransactionStatus } from '../../../src/domain/transitions';
import { rowsOf } from '../../support/domain';

const END = 10_000;

const aTransaction = (
  status: TransactionStatus,
  capture: Partial<NonNullable<TransactionSnapshot['capture']>> | 'sale' = {},
  attempt = 1,
): TransactionSnapshot => ({
  id: `t${attempt}`,
  attempt,
  status,
  expires_at: 800,
  ...(capture !== 'sale' && {
    capture: {
      capture_mode: 'manual',
      capture_period: 'P5D',
      capture_ends_at: END,
      reserved: 100,
      unanswered: 0,
      freed: 0,
      ...capture,
    },
  }),
});

const anOrder = (...transactions: TransactionSnapshot[]): OrderSnapshot => ({
  id: 'o',
  project_id: 'p',
  status: 'completed',
  version: 0,
  amount: 100,
  currency: 'EUR',
  attempts_max: 5,
  charged_by: 'customer',
  expires_at: 1_000,
  clock_offset_ms: 0,
  transactions,
  deliveries: [],
});

const anAuthorization = (over: Partial<Authorization> = {}): Authorization => ({
  transaction_id: 't1',
  capture_mode: 'manual',
  capture_ends_at: END,
  reserved: 100,
  unanswered: 0,
  freed: 0,
  closings: [],
  ...over,
});

/** Closings written as `capture error, void new 40`; without an amount of the whole authorization. */
const closings = (text: string): Closing[] =>
  text === ''
    ? []
    : text.split(', ').map((one, i) => {
        const [kind, status, amount = '100'] = one.split(' ');
        return { id: `f${i + 1}`, kind, status, amount: Number(amount) } as Closing;
      });

describe('rules 8.1: what an order holds', () => {
  test.each<[string, OrderSnapshot, Partial<Authorization> | undefined]>([
    [
      'an authorization holds its amount',
      anOrder(aTransaction('accepted')),
      {
        transaction_id: 't1',
        capture_mode: 'manual',
        capture_ends_at: END,
        reserved: 100,
        unanswered: 0,
        freed: 0,
        closings: [],
      },
    ],
    [
      'the one that was accepted, after declines',
      anOrder(aTransaction('error', { reserved: 0 }, 1), aTransaction('accepted', { capture_mode: 'delayed' }, 2)),
      { transaction_id: 't2', capture_mode: 'delayed' },
    ],
    [
      'money that is only awaited is held too',
      anOrder(aTransaction('accepted', { reserved: 0, unanswered: 40 })),
      { reserved: 0, unanswered: 40 },
    ],
    ['nothing left', anOrder(aTransaction('accepted', { reserved: 0 })), undefined],
    ['a sale', anOrder(aTransaction('accepted', 'sale')), undefined],
    ['not accepted yet', anOrder(aTransaction('processing')), undefined],
    ['voided in full', anOrder(aTransaction('cancelled', { reserved: 0 })), undefined],
    ['lapsed', anOrder(aTransaction('expired', { reserved: 0 })), undefined],
    ['no transaction', anOrder(), undefined],
  ])('%s', (_title, order, expected) => {
    if (expected === undefined) expect(openAuthorization(order)).toBeUndefined();
    else expect(openAuthorization(order)).toMatchObject(expected);
  });

  test('with what the service has done at its end', () => {
    const done = closings('capture error');
    expect(openAuthorization({ ...anOrder(aTransaction('accepted')), closings: done })?.closings).toEqual(done);
  });
});

describe('what the service does at the end of the window, or a millisecond away from it', () => {
  /** `delayed 40 unanswered=60`: what it holds; `capture 80`, `nothing`, or `closed`: nothing more is waited for. */
  const decided = (_title: string, words: string, after_end: string, done: string, expected: string) => {
    const [capture_mode, reserved, ...rest] = words.split(' ');
    const over = rest.map((field) => field.split('=')).map(([name, value]) => [name, Number(value)]);
    const authorization = anAuthorization({
      ...{ capture_mode: capture_mode as 'manual', reserved: Number(reserved), closings: closings(done) },
      ...(Object.fromEntries(over) as Partial<Authorization>),
    });
    const now = END + Number(after_end);
    const closing = closingOf(authorization, now);
    const is_closed = isWindowClosed(authorization, now);
    expect(closing ? `${closing.kind} ${closing.amount}` : is_closed ? 'closed' : 'nothing').toBe(expected);
    expect(is_closed).toBe(expected === 'closed');
  };

  test.each(
    rowsOf(`
      before its end nothing                                               | manual 100               | -1 |                | nothing
      manual: what is left is released, exactly at the end                 | manual 100               | 0  |                | void 100
      delayed, before its end nothing                                      | delayed 100              | -1 |                | nothing
      delayed: captured automatically at the end                           | delayed 100              | 0  |                | capture 100
      an automatic capture is asked for once, also when it is not answered | delayed 40 unanswered=60 | 1  | capture new    | void 40
      delayed, after a release nothing is captured any more                | delayed 100              | 1  | void error     | closed
      all is told                                                          | manual 0                 | 1  | void completed | closed
    `),
  )('rules 8.2 and 7.1: %s', decided);

  test.each(
    rowsOf(`
      less what is asked and not answered: that is waited for          | manual 0 unanswered=40  | 0 |                                   | nothing
      the rest is released while a capture is awaited                  | manual 60 unanswered=40 | 0 |                                   | void 60
      what a later refusal frees is released the same way              | manual 40               | 1 | void completed                    | void 40
      of a delayed one, what refusals have freed since is not captured | delayed 100 freed=20    | 1 |                                   | capture 80
      and if that is all there is, it is released                      | delayed 20 freed=20     | 1 |                                   | void 20
      what a later refusal frees is released after a refused release   | manual 100              | 1 | void error 60                     | void 40
      also beside a further release that is not answered               | manual 70 unanswered=30 | 1 | void error 60, void processing 30 | void 10
    `),
  )('rules 8.8: %s', decided);

  test.each(
    rowsOf(`
      a refused automatic capture: the rest is released | delayed 100 | 1 | capture error | void 100
    `),
  )('rules 8.9: %s', decided);

  test.each(
    rowsOf(`
      a release that is not answered is waited for     | manual 0 unanswered=100 | 1 | void processing                  | nothing
      a release that is refused is not asked for again | manual 100              | 1 | void error                       | closed
      what was released since does not free it again   | manual 60               | 1 | void error 60, void completed 40 | closed
      each refused amount once                         | manual 100              | 1 | void error 60, void error 40     | closed
      nor after a refused capture                      | delayed 100             | 1 | capture error, void error        | closed
      but what is unanswered is waited for             | manual 60 unanswered=40 | 1 | void error 60                    | nothing
    `),
  )('rules 8.10: %s', decided);
});
