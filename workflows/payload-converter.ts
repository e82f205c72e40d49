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

/** A payload that the codec rejected: it was not encrypted for this workflow (rules 24.8). */
class Refused {
  readonly reason: string;
  constructor({ reason }: Refused) {
    this.reason = reason;
  }
}

/**
 * An argument that an operator sent through the Web UI. The codec server encrypted it and added the name (rules 24.9).
 */
class FromOperator {
  readonly operator: string;
  readonly value: unknown;
  constructor({ operator, value }: FromOperator) {
    this.operator = operator;
    this.value = value;
  }
}

const json = new JsonPayloadConverter();

/** Reads JSON of one encoding; writes nothing. */
const reader = <Value>(encodingType: string, Marked: new (value: Value) => Value): PayloadConverterWithEncoding => ({
  encodingType,
  toPayload: () => undefined,
  fromPayload: <T>(payload: Parameters<typeof json.fromPayload>[0]) =>
    new Marked(json.fromPayload(payload)) as unknown as T,
});

/** The SDK's converter, extended by the encodings that the codec marks. The SDK looks for this name in the bundle. */
export const payloadConverter = new CompositePayloadConverter(
  new UndefinedPayloadConverter(),
  new BinaryPayloadConverter(),
  json,
  reader(REFUSED_PAYLOAD, Refused),
  reader(OPERATOR_PAYLOAD, FromOperator),
);

/**
 * The updates that an operator may send, each with a function that builds its arguments. The operator's name never
 * comes from the typed text.
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
 * The arguments of a workflow, update (`update`: its name) or signal, if they may be trusted. Throws a failure of the
 * type PAYLOAD_REFUSED otherwise.
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
