/**
 * The receiver check (rules 27): which cases are played against a merchant's webhook receiver, and the verdict about
 * what it did.
 */

/** Every case, in the order of the report. */
export const RECEIVER_CASES = [
  'once',
  'twice_at_once',
  'late',
  'out_of_order',
  'wrong_signature',
  'old_timestamp',
  'previous_secret',
  'answered_500',
  'cut_after_answer',
  'slow_body',
  'ten_at_once',
  'after_silence',
] as const;
export type ReceiverCase = (typeof RECEIVER_CASES)[number];

/** The cases of a round are played at the same time, one round after the other. */
export const RECEIVER_CHECK_ROUNDS: readonly (readonly ReceiverCase[])[] = [
  ['once'],
  ['twice_at_once', 'late', 'out_of_order', 'after_silence'],
  ['wrong_signature', 'old_timestamp', 'previous_secret'],
  ['answered_500', 'cut_after_answer', 'slow_body'],
  ['ten_at_once'],
];

/** No round begins later than this after the start, so that a check ends within 30 seconds as a rule. Milliseconds. */
export const LAST_ROUND_AFTER_MS = 8_000;
/** How long reads of the orders are waited for after the last webhook, in milliseconds. */
export const READS_AWAITED_MS = 4_000;
/** A check that runs for longer has lost its workflow. Milliseconds. */
export const RECEIVER_CHECK_LOST_AFTER_MS = 2 * 60_000;

/** A webhook as it was sent. Instants in epoch milliseconds. */
export interface SentWebhook {
  order_id: string;
  webhook_id: string;
  /** What a correct receiver does: `accepted` is a 2xx, `refused` any other answer. */
  expected: 'accepted' | 'refused';
  sent_at: number;
  /** Of its answer, by the clock of `sent_at`: `duration_ms` is rounded, and may begin a little later. */
  answered_at: number;
  duration_ms: number;
  status_code?: number | undefined;
  /** Why there is no status code, in words. */
  failure?: string | undefined;
}

/** A request of the project for an order, as it was answered; `received` in epoch milliseconds. */
export interface OrderRead {
  request_id: string;
  order_id: string;
  api_key_id: string;
  received: number;
  /** Null: the whole answer was not sent. */
  status: number | null;
}

/** A case that was played. */
export interface PlayedCase {
  case: ReceiverCase;
  webhooks: readonly SentWebhook[];
}

/** `warning`: it works, but an accident of production makes it fail. */
export const RECEIVER_RESULTS = ['passed', 'warning', 'failed', 'not_played'] as const;
export type ReceiverResult = (typeof RECEIVER_RESULTS)[number];

export interface Verdict {
  result: ReceiverResult;
  /** What happened, and what would happen in production. */
  text: string;
  /** How to mend it; absent when nothing has to be. */
  mend?: string;
}

/** A case of the report. */
export interface JudgedCase extends PlayedCase, Verdict {
  reads: readonly OrderRead[];
}

/** From this time on an answer is near the limit of a first attempt, which is 4 s. Milliseconds. */
const SLOW_MS = 2_000;
/** A body in halves takes so much longer. Milliseconds. */
const HALVES_MS = 1_000;

/** The text of a passed case, and the advice when a valid webhook was refused. */
const CASES: Readonly<Record<ReceiverCase, { passed: string; if_refused: string }>> = {
  once: {
    passed: 'It accepted the webhook and retrieved the order.',
    if_refused:
      'Verify the signature over the raw body with the webhook secret of this project, retrieve the order, then answer 2xx.',
  },
  twice_at_once: {
    passed: 'It accepted the same webhook twice at the same moment.',
    if_refused:
      'Answer 2xx to both: let a unique key of your database on the order decide which one changes your system.',
  },
  late: {
    passed: 'It accepted the webhook of an order that was refunded meanwhile, and retrieved the order as it is now.',
    if_refused: 'Accept a webhook whatever the status of the order is, retrieve the order and act on what it says now.',
  },
  out_of_order: {
    passed: 'It accepted two events of one order, the later first.',
    if_refused:
      'Accept an event that is older than one you know: act on the order as it is, not on the number of events.',
  },
  wrong_signature: {
    passed: 'It refused the wrong signature, and accepted the right one.',
    if_refused:
      'Verify the signature first. A refused webhook must not make you refuse a right one of the same id later.',
  },
  old_timestamp: {
    passed: 'It refused the webhook that was signed ten minutes ago, and accepted it with a new time.',
    if_refused:
      'Refuse a webhook-timestamp by its distance to now only, five minutes, and accept the same id with a new one.',
  },
  previous_secret: {
    passed: 'It accepted a webhook whose second signature was right.',
    if_refused:
      'Compare with every signature of the header, separated by spaces: while a secret is replaced there are two, and yours may be the second.',
  },
  answered_500: {
    passed: 'It accepted the webhook again after its first answer counted as 500.',
    if_refused:
      'Answer 2xx to a webhook-id that you know: the service sends it again because it does not know that you have it.',
  },
  cut_after_answer: {
    passed: 'It accepted the webhook again after the connection was cut during its answer.',
    if_refused: 'Answer 2xx to a webhook-id that you know: your answer was lost on its way.',
  },
  slow_body: {
    passed: 'It waited for the second half of the body.',
    if_refused: 'Read the body to the end, as long as Content-Length says, before you verify the signature.',
  },
  ten_at_once: {
    passed: 'It accepted the webhooks of ten orders at once.',
    if_refused:
      'Serve several requests at a time, or keep them in a queue of yours: many orders may change in one second.',
  },
  after_silence: {
    passed: 'It accepted the first webhook of an order that is ten minutes old.',
    if_refused: 'Judge the age of a webhook by webhook-timestamp alone: the first one of an order may come late.',
  },
};

/** What a 2xx to a webhook that had to be refused means, and the advice. */
const IF_ACCEPTED: Partial<Record<ReceiverCase, { text: string; mend: string }>> = {
  wrong_signature: {
    text: 'It accepted a webhook with a wrong signature. In production anybody who knows its address can tell it that an order has changed.',
    mend: 'Compute the signature over webhook-id, webhook-timestamp and the raw body, compare it in constant time, and answer 401 when none is equal.',
  },
  old_timestamp: {
    text: 'It accepted a webhook that was signed ten minutes ago. In production anybody who has seen one webhook can send it again for ever.',
    mend: 'Refuse a webhook-timestamp that is more than five minutes from now, also when the signature is right.',
  },
};

/** The cases about refusals: they say nothing about reads. */
const isAboutRefusal = (name: ReceiverCase) => IF_ACCEPTED[name] !== undefined;

/** The verdict about a case; `reads` are those of its orders. */
export function judgeCase({ case: name, webhooks }: PlayedCase, reads: readonly OrderRead[]): Verdict {
  const accepted = webhooks.filter((one) => one.expected === 'accepted');
  return (
    judgeRefusals(name, webhooks) ??
    judgeAnswers(name, accepted) ??
    (isAboutRefusal(name) ? undefined : judgeReads(accepted, reads)) ??
    judgeSpeed(name, accepted) ?? { result: 'passed', text: CASES[name].passed }
  );
}

/** The whole report: every case, also those for which there was no time. */
export function judgeReceiver(played: readonly PlayedCase[], reads: readonly OrderRead[]): JudgedCase[] {
  return RECEIVER_CASES.map((name) => {
    const one = played.find((candidate) => candidate.case === name);
    if (one === undefined) return { case: name, webhooks: [], reads: [], ...NOT_PLAYED };
    const orders = new Set(one.webhooks.map(({ order_id }) => order_id));
    const of_case = reads.filter(({ order_id }) => orders.has(order_id));
    return { case: name, webhooks: one.webhooks, reads: of_case, ...judgeCase(one, of_case) };
  });
}

const NOT_PLAYED: Verdict = {
  result: 'not_played',
  text: 'Not played: earlier webhooks were answered so slowly that no time was left.',
  mend: 'Answer each webhook within a second, then check again.',
};

/** The worst result of a report. */
export function worstResult(cases: readonly Pick<Verdict, 'result'>[]): ReceiverResult {
  const order: readonly ReceiverResult[] = ['failed', 'not_played', 'warning'];
  return order.find((result) => cases.some((one) => one.result === result)) ?? 'passed';
}

/** The orders that the receiver said it has accepted and that it has not retrieved (yet). */
export function unreadOrders(played: readonly PlayedCase[], reads: readonly OrderRead[]): string[] {
  const read = new Set(reads.map(({ order_id }) => order_id));
  const accepted = played.flatMap(({ webhooks }) => webhooks.filter(isAccepted)).map(({ order_id }) => order_id);
  return [...new Set(accepted)].filter((order_id) => !read.has(order_id));
}

const isAccepted = ({ status_code = 0 }: SentWebhook) => status_code >= 200 && status_code < 300;

function judgeRefusals(name: ReceiverCase, webhooks: readonly SentWebhook[]): Verdict | undefined {
  const if_accepted = IF_ACCEPTED[name];
  const wrong = webhooks.filter((one) => one.expected === 'refused');
  if (if_accepted !== undefined && wrong.some(isAccepted)) return { result: 'failed', ...if_accepted };
  const silent = wrong.find(({ failure }) => failure?.endsWith('took too long') === true);
  return silent && noAnswer(silent.failure!);
}

function judgeAnswers(name: ReceiverCase, accepted: readonly SentWebhook[]): Verdict | undefined {
  const refused = accepted.find((one) => !isAccepted(one));
  if (refused === undefined) return undefined;
  if (refused.status_code === undefined) return noAnswer(refused.failure ?? 'the connection broke');
  const all = accepted.length === 1 ? 'It answered' : `One of ${accepted.length} webhooks that were right was answered`;
  return {
    result: 'failed',
    text: `${all} ${refused.status_code}. ${NEVER_ARRIVES}`,
    mend: CASES[name].if_refused,
  };
}

const NEVER_ARRIVES =
  'In production such a webhook is sent again every two minutes, ten times at most; after that your system does not know of the change.';

const noAnswer = (failure: string): Verdict => ({
  result: 'failed',
  text: `There was no answer: ${failure}. ${NEVER_ARRIVES}`,
  mend: 'Answer within 4 seconds, over HTTP/1.1, at an address that the service can reach.',
});

/** Whether the receiver retrieved each order by the time it answered 2xx: what it answers before that may be lost. */
function judgeReads(accepted: readonly SentWebhook[], reads: readonly OrderRead[]): Verdict | undefined {
  const readsOf = ({ order_id }: SentWebhook) => reads.filter((read) => read.order_id === order_id);
  const unread = accepted.find((one) => readsOf(one).length === 0);
  if (unread !== undefined) {
    return {
      result: 'failed',
      text: `It answered ${unread.status_code} and never retrieved the order. The body has no status: a receiver that trusts it ships goods for orders that were declined, cancelled or refunded.`,
      mend: 'Retrieve the order with GET /v1/orders/{order_id}/ and an API key of this project, and act on its status.',
    };
  }
  const isAnswered = ({ status }: OrderRead) => status === 200 || status === 304;
  const failed = accepted.find((one) => !readsOf(one).some(isAnswered));
  if (failed !== undefined) {
    const { status, api_key_id } = readsOf(failed)[0]!;
    return {
      result: 'failed',
      text: `Its request for the order with API key ${api_key_id} got ${status === null ? 'no whole answer' : String(status)}, and it answered ${failed.status_code}. It does not know the status of the order.`,
      mend: 'Answer 500 while the order cannot be retrieved: the webhook is then sent again.',
    };
  }
  const early = accepted.find(
    (one) => !readsOf(one).some((read) => isAnswered(read) && read.received <= one.answered_at),
  );
  if (early === undefined) return undefined;
  return {
    result: 'warning',
    text: `It answered ${early.status_code} before it retrieved the order. If it stops in between, the change is lost: a webhook that was answered 2xx is not sent again.`,
    mend: 'Retrieve the order and store what it says, then answer 2xx. If you keep webhooks in a queue that survives a crash, and answer once yours is in it, this is fine.',
  };
}

function judgeSpeed(name: ReceiverCase, accepted: readonly SentWebhook[]): Verdict | undefined {
  const slowest = Math.max(...accepted.map(({ duration_ms }) => duration_ms)) - (name === 'slow_body' ? HALVES_MS : 0);
  if (slowest < SLOW_MS) return undefined;
  return {
    result: 'warning',
    text: `It took ${(slowest / 1_000).toFixed(1)} s to answer. The limit of a first attempt is 4 s: under load webhooks fail and come two minutes late.`,
    mend: 'Store the order and answer; do slow work such as e-mails afterwards.',
  };
}
