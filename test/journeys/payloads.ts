import type { temporal } from '@temporalio/proto';

type Payload = temporal.api.common.v1.IPayload;

/** Every payload of a history of Temporal, wherever it is. */
export function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  if ('metadata' in value && 'data' in value && value.data instanceof Uint8Array) return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}

type Failure = temporal.api.failure.v1.IFailure;

/** Every failure of a history that our code made, with its causes. Those of the server have texts of its own. */
export function failuresIn(value: unknown): Failure[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  const inside = Object.values(value).flatMap(failuresIn);
  return 'source' in value && value.source === 'TypeScriptSDK' ? [value as Failure, ...inside] : inside;
}
