import {
  ApplicationFailure,
  BinaryPayloadConverter,
  CompositePayloadConverter,
  JsonPayloadConverter,
  UndefinedPayloadConverter,
  type PayloadConverterWithEncoding,
} from '@temporalio/common';
import {
  OPERATOR_PAYLOAD,
  PAYLOAD_REFUSED,
  REFUSED_PAYLOAD,
  pollNowUpdate,
  setOutcomeUpdate,
  type SetOutcomeInput,
} from './messages';

/** What the codec refused: it was not encrypted for this workflow (rules 24.8). */
class Refused {
  readonly reason: string;
  constructor({ reason }: Refused) {
    this.reason = reason;
  }
}

/** What an operator sent through the Web UI, encrypted by the codec server, which knows the name (rules 24.9). */
class FromOperator {
  readonly operator: string;
  readonly value: unknown;
  constructor({ operator, value }: FromOperator) {
    this.operator = operator;
    this.value = value;
  }
}

const json = new JsonPayloadConverter();

/** Reads JSON of one encoding; nothing is written with it. */
const reader = <Value>(encodingType: string, Marked: new (value: Value) => Value): PayloadConverterWithEncoding => ({
  encodingType,
  toPayload: () => undefined,
  fromPayload: <T>(payload: Parameters<typeof json.fromPayload>[0]) =>
    new Marked(json.fromPayload(payload)) as unknown as T,
});

/** The SDK's, which also reads what the codec has marked. Under the name that the SDK looks for in the bundle. */
export const payloadConverter = new CompositePayloadConverter(
  new UndefinedPayloadConverter(),
  new BinaryPayloadConverter(),
  json,
  reader(REFUSED_PAYLOAD, Refused),
  reader(OPERATOR_PAYLOAD, FromOperator),
);

/**
 * What an operator may send: each update, and how its arguments are made of what was typed. The name is never taken
 * from there.
 */
const OPERATOR_UPDATES = new Map<string | undefined, (sent: FromOperator) => unknown[]>([
  [pollNowUpdate.name, () => []],
  [
    setOutcomeUpdate.name,
    ({ operator, value }) => {
      const { transaction_id, outcome, reason } = (value ?? {}) as Partial<SetOutcomeInput>;
      return [{ transaction_id, outcome, reason, operator }];
    },
  ],
]);

/**
 * The arguments that a workflow, update (`update`: its name) or signal may obey. Throws a failure of the type
 * PAYLOAD_REFUSED otherwise.
 */
export function trustedArguments(args: unknown[], update?: string): unknown[] {
  const refused = args.find((arg) => arg instanceof Refused);
  if (refused !== undefined) throw refusedPayload(refused.reason);
  const sent = args.find((arg) => arg instanceof FromOperator);
  if (sent === undefined) return args;
  const argumentsOf = OPERATOR_UPDATES.get(update);
  if (argumentsOf === undefined) {
    throw refusedPayload(`operators send ${[...OPERATOR_UPDATES.keys()].join(' and ')} only`);
  }
  return argumentsOf(sent);
}

const refusedPayload = (reason: string) =>
  ApplicationFailure.create({ type: PAYLOAD_REFUSED, message: `Refused: ${reason}.`, nonRetryable: true });
