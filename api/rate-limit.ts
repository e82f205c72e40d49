import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import type { Response } from 'express';
import { ServiceError } from '../src/errors';

/** A bucket holds what may come at once: this many seconds of the rate (DECISIONS, HTTP surface 12). */
const BURST_SECONDS = 2;
/** Buckets kept at once; the one that was quiet longest goes first, and its caller begins with a full one. */
const BUCKETS_MAX = 10_000;

/** Counts one request of a caller and says in the answer where it stands. Throws TooManyRequests. */
export type RateLimit = (caller: string, response: Response) => void;

/**
 * A token bucket for each caller, in this process: a request takes a token, and `per_second` of them drip in. The headers
 * are those of the IETF draft (draft-ietf-httpapi-ratelimit-headers): the quota, its window, what is left, and the seconds
 * until all of it is there again. 0 lets everything pass and says nothing.
 */
export function createRateLimit(per_second: number): RateLimit {
  if (per_second === 0) return () => {};
  const quota = per_second * BURST_SECONDS;
  const buckets = new LRUCache<string, TokenBucket>({ max: BUCKETS_MAX });

  return (caller, response) => {
    const bucket = buckets.get(caller) ?? newBucket(caller);
    const allowed = bucket.tryRemoveTokens(1);
    response.setHeader('RateLimit-Policy', `"default";q=${quota};w=${BURST_SECONDS}`);
    response.setHeader('RateLimit', `"default";r=${Math.floor(bucket.content)};t=${Math.ceil((quota - bucket.content) / per_second)}`);
    if (!allowed) throw new ServiceError('TooManyRequests', `More than ${per_second} requests a second with this API key.`);
  };

  function newBucket(caller: string): TokenBucket {
    const bucket = new TokenBucket({ bucketSize: quota, tokensPerInterval: per_second, interval: 'second' });
    // Nobody begins with an empty one.
    bucket.content = quota;
    buckets.set(caller, bucket);
    return bucket;
  }
}
