import {
  PAYLOAD_REFUSED,
  OPERATOR_PAYLOAD,
  REFUSED_PAYLOAD,
  pollNowUpdate,
  setOutcomeUpdate,
} from '../../workflows/messages';
import { payloadConverter, trustedArguments } from '../../workflows/payload-converter';

/** What a payload that the codec has marked is in a workflow. */
const read = (encoding: string, value: object) =>
  payloadConverter.fromPayload({
    metadata: { encoding: Buffer.from(encoding) },
    data: Buffer.from(JSON.stringify(value)),
  });
const refused = read(REFUSED_PAYLOAD, { reason: 'the payload is not encrypted' });
const sentByAda = (value: unknown) => read(OPERATOR_PAYLOAD, { operator: 'ada', value });
const [transaction_id, outcome, reason] = ['t', 'approved', 'Bank statement'];

test.each([undefined, 7, 'text', { reason: 'kept' }, [null]])(
  'a value is written and read as by the SDK: %j',
  (value) => {
    expect(payloadConverter.fromPayload(payloadConverter.toPayload(value))).toEqual(value);
  },
);

test.each([undefined, setOutcomeUpdate.name, pollNowUpdate.name, 'cancelOrder'])(
  'rules 24.8: what was refused is not obeyed: %s',
  (update) => {
    expect(() => trustedArguments([{}, refused], update)).toThrow(
      expect.objectContaining({ type: PAYLOAD_REFUSED, message: 'Refused: the payload is not encrypted.' }) as Error,
    );
  },
);

test('what the service has sent is obeyed as it is', () => {
  const args = [{ operator: 'Ada', command_line: { request_id: 'r' } }];
  expect(trustedArguments(args, setOutcomeUpdate.name)).toBe(args);
});

test.each([undefined, 'cancelOrder', 'createOrder', 'constructor'])(
  'rules 24.9: an operator sends nothing else: %s',
  (update) => {
    expect(() => trustedArguments([sentByAda({})], update)).toThrow(
      expect.objectContaining({ type: PAYLOAD_REFUSED }) as Error,
    );
  },
);

test('rules 24.9: of a settlement nothing is taken from the operator but transaction, outcome and reason', () => {
  const typed = { transaction_id, outcome, reason, operator: 'forged', command_line: { request_id: 'r' } };
  const settlement = { transaction_id, outcome, reason, operator: 'ada' };
  expect(trustedArguments([sentByAda(typed)], setOutcomeUpdate.name)).toEqual([settlement]);
  // What is missing is for the workflow to refuse.
  expect(trustedArguments([sentByAda(null)], setOutcomeUpdate.name)).toEqual([{ operator: 'ada' }]);
  expect(trustedArguments([sentByAda(typed)], pollNowUpdate.name)).toEqual([]);
});
