import { closingOf, isWindowClosed, openAuthorization, type Authorization } from '../../../src/domain/authorization';
import type { Closing, OrderRecord, TransactionRecord } from '../../../src/domain/order-record';
import type { TransactionStatus } from '../../../src/domain/transitions';

const END = 10_000;

const aTransaction = (
  status: TransactionStatus,
  capture: Partial<NonNullable<TransactionRecord['capture']>> | 'sale' = {},
  attempt = 1,
): TransactionRecord => ({
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

const anOrder = (...transactions: TransactionRecord[]): OrderRecord => ({
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

describe('what an order holds', () => {
  test.each<[string, OrderRecord, Partial<Authorization> | undefined]>([
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

describe('rules 8.2 and 8.8: what the service does at the end of the window', () => {
  test.each<
    [
      rule: string,
      held: Partial<Authorization>,
      now: number,
      done: string,
      closing: string | undefined,
      closed: boolean,
    ]
  >([
    ['before its end nothing', {}, END - 1, '', undefined, false],
    ['manual: what is left is released, exactly at the end', {}, END, '', 'void 100', false],
    ['delayed: captured automatically at the end', { capture_mode: 'delayed' }, END, '', 'capture 100', false],
    ['delayed, before its end nothing', { capture_mode: 'delayed' }, END - 1, '', undefined, false],
    [
      'less what is asked and not answered: that is waited for',
      { reserved: 0, unanswered: 40 },
      END,
      '',
      undefined,
      false,
    ],
    ['the rest is released while a capture is awaited', { reserved: 60, unanswered: 40 }, END, '', 'void 60', false],
    [
      'what a later refusal frees is released the same way',
      { reserved: 40 },
      END + 1,
      'void completed',
      'void 40',
      false,
    ],
    [
      'a refused automatic capture: the rest is released',
      { capture_mode: 'delayed' },
      END + 1,
      'capture error',
      'void 100',
      false,
    ],
    [
      'an automatic capture is asked for once, also when it is not answered',
      { capture_mode: 'delayed', reserved: 40, unanswered: 60 },
      END + 1,
      'capture new',
      'void 40',
      false,
    ],
    [
      'of a delayed one, what refusals have freed since is not captured',
      { capture_mode: 'delayed', freed: 20 },
      END + 1,
      '',
      'capture 80',
      false,
    ],
    [
      'and if that is all there is, it is released',
      { capture_mode: 'delayed', reserved: 20, freed: 20 },
      END + 1,
      '',
      'void 20',
      false,
    ],
    [
      'delayed, after a release nothing is captured any more',
      { capture_mode: 'delayed' },
      END + 1,
      'void error',
      undefined,
      true,
    ],
    [
      'a release that is not answered is waited for',
      { reserved: 0, unanswered: 100 },
      END + 1,
      'void processing',
      undefined,
      false,
    ],
    ['a release that is refused is not asked for again', {}, END + 1, 'void error', undefined, true],
    [
      'what a later refusal frees is released all the same',
      { reserved: 100 },
      END + 1,
      'void error 60',
      'void 40',
      false,
    ],
    [
      'also beside a further release that is not answered',
      { reserved: 70, unanswered: 30 },
      END + 1,
      'void error 60, void processing 30',
      'void 10',
      false,
    ],
    [
      'what was released since does not free it again',
      { reserved: 60 },
      END + 1,
      'void error 60, void completed 40',
      undefined,
      true,
    ],
    ['each refused amount once', { reserved: 100 }, END + 1, 'void error 60, void error 40', undefined, true],
    ['nor after a refused capture', { capture_mode: 'delayed' }, END + 1, 'capture error, void error', undefined, true],
    [
      'but what is unanswered is waited for',
      { reserved: 60, unanswered: 40 },
      END + 1,
      'void error 60',
      undefined,
      false,
    ],
    ['all is told: closed', { reserved: 0 }, END + 1, 'void completed', undefined, true],
  ])('%s', (_rule, over, now, done, closing, closed) => {
    const authorization = anAuthorization({ ...over, closings: closings(done) });
    const found = closingOf(authorization, now);
    expect([found && `${found.kind} ${found.amount}`, isWindowClosed(authorization, now)]).toEqual([closing, closed]);
  });
});
