import { randomBytes } from 'node:crypto';
import { ApplicationFailure, DefaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import {
  decodeOptionalFailureToOptionalError,
  encodeErrorToFailure,
} from '@temporalio/common/lib/internal-non-workflow';
import { EncryptingCodec } from '../../src/temporal/payload-codec';
import { failureConverter } from '../../workflows/failure-converter';

const { Failure } = temporal.api.failure.v1;
const converter = {
  failureConverter,
  payloadConverter: defaultPayloadConverter,
  payloadCodecs: [new EncryptingCodec(`k1:${randomBytes(32).toString('base64')}`)],
};
const context = { type: 'workflow', namespace: 'payments', workflowId: 'order:1' } as const;

/** A failure as Temporal keeps it, as text. */
const kept = (failure: temporal.api.failure.v1.IFailure) =>
  Buffer.from(Failure.encode(Failure.fromObject(failure)).finish()).toString('latin1');

test('rules 24.3: message and stack of a failure and of its causes cannot be read in Temporal; its type can', async () => {
  const error = ApplicationFailure.create({
    message: 'Only 40 is left.',
    type: 'RefundError',
    cause: new Error('of order 4711'),
  });
  const failure = await encodeErrorToFailure(converter, error, context);
  expect(failure.message).toBe('Encoded failure');
  expect(kept(failure)).toContain('RefundError');
  for (const text of ['Only 40', '4711', 'failure-converter.test']) expect(kept(failure)).not.toContain(text);
  const read = (await decodeOptionalFailureToOptionalError(converter, failure, context)) as ApplicationFailure;
  expect([read.message, read.type, read.cause?.message]).toEqual(['Only 40 is left.', 'RefundError', 'of order 4711']);
  expect(read.stack).toContain('failure-converter.test');
});

test('an error that is thrown to two callers has its message both times', async () => {
  const first = await encodeErrorToFailure(
    converter,
    ApplicationFailure.create({ message: 'Only 40 is left.' }),
    context,
  );
  const error = await decodeOptionalFailureToOptionalError(converter, first, context);
  for (const _ of [1, 2]) {
    const again = await encodeErrorToFailure(converter, error, context);
    expect((await decodeOptionalFailureToOptionalError(converter, again, context))!.message).toBe('Only 40 is left.');
  }
});

test('an unencrypted failure of an earlier run is read as it is', () => {
  const plain = new DefaultFailureConverter().errorToFailure(
    ApplicationFailure.create({ message: 'Only 40 is left.' }),
    defaultPayloadConverter,
  );
  expect(failureConverter.failureToError(plain, defaultPayloadConverter).message).toBe('Only 40 is left.');
});
