import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import type { Response } from 'express';
import { ServiceError } from '../../src/errors';

/** Size of an API key's bucket, in seconds of its rate (rules 18.1). */
const BURST_SECONDS = 2;
/** Buckets kept at once. The least recently used goes first, and its caller begins with a full one again. */
const BUCKETS_MAX = 10_000;

/** How much a caller may send: so much a second on average, and `burst` at once. */
export interface Rate {
  per_second: number;
  burst: number;
}

/** Takes a token from a caller's bucket; tells whether there was one, and how many are left, with fractions. */
export type TakeToken = (caller: string) => { allowed: boolean; left: number };

/** A token bucket for each caller, in this process. */
export function createTokenBuckets({ per_second, burst }: Rate): TakeToken {
  const buckets = new LRUCache<string, TokenBucket>({ max: BUCKETS_MAX });

  function newBucket(caller: string): TokenBucket {
    const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval: per_second, interval: 'second' });
    // The library's buckets begin empty.
    bucket.content = burst;
    buckets.set(caller, bucket);
    return bucket;
  }

  return (caller) => {
    const bucket = buckets.get(caller) ?? newBucket(caller);
    return { allowed: bucket.tryRemoveTokens(1), left: bucket.content };
  };
}

/** Counts one request of a caller and sets the RateLimit headers. Throws TooManyRequests. */
export type RateLimit = (caller: string, response: Response) => void;

/**
 * The limit of an API key. The headers are those of the IETF draft (draft-ietf-httpapi-ratelimit-headers): the quota, its window,
 * what is left, and the seconds until the bucket is full. 0: no limit and no headers.
 */
export function createRateLimit(per_second: number): RateLimit {
  if (per_second === 0) return () => {};
  const quota = per_second * BURST_SECONDS;
  const take = createTokenBuckets({ per_second, burst: quota });

  return (caller, response) => {
    const { allowed, left } = take(caller);
    response.setHeader('RateLimit-Policy', `"default";q=${quota};w=${BURST_SECONDS}`);
    response.setHeader('RateLimit', `"default";r=${Math.floor(left)};t=${Math.ceil((quota - left) / per_second)}`);
    if (!allowed) {
      throw new ServiceError('TooManyRequests', `More than ${per_second} requests a second with this API key.`);
    }
  };
}
