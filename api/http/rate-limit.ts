import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import type { Response } from 'express';
import { ServiceError } from '../../src/errors';

/** Size of a bucket, in seconds of the rate (rules 18.1). */
const BURST_SECONDS = 2;
/** Buckets kept at once. The least recently used goes first, and its caller begins with a full one again. */
const BUCKETS_MAX = 10_000;

/** Counts one request of a caller and sets the RateLimit headers. Throws TooManyRequests. */
export type RateLimit = (caller: string, response: Response) => void;

/**
 * A token bucket for each caller, in this process: a request takes a token, and `per_second` of them are added each second. The
 * headers are those of the IETF draft (draft-ietf-httpapi-ratelimit-headers): the quota, its window, what is left, and the seconds
 * until the bucket is full. 0: no limit and no headers.
 */
export function createRateLimit(per_second: number): RateLimit {
  if (per_second === 0) return () => {};
  const quota = per_second * BURST_SECONDS;
  const buckets = new LRUCache<string, TokenBucket>({ max: BUCKETS_MAX });

  return (caller, response) => {
    const bucket = buckets.get(caller) ?? newBucket(caller);
    const allowed = bucket.tryRemoveTokens(1);
    response.setHeader('RateLimit-Policy', `"default";q=${quota};w=${BURST_SECONDS}`);
    response.setHeader(
      'RateLimit',
      `"default";r=${Math.floor(bucket.content)};t=${Math.ceil((quota - bucket.content) / per_second)}`,
    );
    if (!allowed) {
      throw new ServiceError('TooManyRequests', `More than ${per_second} requests a second with this API key.`);
    }
  };

  function newBucket(caller: string): TokenBucket {
    const bucket = new TokenBucket({ bucketSize: quota, tokensPerInterval: per_second, interval: 'second' });
    // The library's buckets begin empty.
    bucket.content = quota;
    buckets.set(caller, bucket);
    return bucket;
  }
}
