import ipaddr from 'ipaddr.js';
import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import type { Request, Response } from 'express';
import { ServiceError } from '../../src/errors';
import { count } from '../../src/metrics/recorder';

/** Size of a caller's bucket, in seconds of its rate (rules 18.1). */
const BURST_SECONDS = 2;
/**
 * Maximum number of buckets. The least recently used one is dropped, and its caller starts with a full bucket again.
 */
const BUCKETS_MAX = 10_000;

/** How much a caller may send: so much a second on average, and `burst` at once. */
export interface Rate {
  per_second: number;
  burst: number;
}

/** A token bucket for each caller, in this process. */
export interface TokenBuckets {
  /** Takes a token. Returns whether there was one, and the remaining tokens, with fractions. */
  readonly take: (caller: string) => { allowed: boolean; left: number };
  /** Takes so many tokens, at most `burst`, once there are so many. */
  readonly spend: (caller: string, tokens: number) => Promise<void>;
}

export function createTokenBuckets({ per_second, burst }: Rate): TokenBuckets {
  const buckets = new LRUCache<string, TokenBucket>({ max: BUCKETS_MAX });

  function newBucket(caller: string): TokenBucket {
    const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval: per_second, interval: 'second' });
    // The library's buckets begin empty.
    bucket.content = burst;
    buckets.set(caller, bucket);
    return bucket;
  }

  const bucketOf = (caller: string) => buckets.get(caller) ?? newBucket(caller);
  return {
    take(caller) {
      const bucket = bucketOf(caller);
      return { allowed: bucket.tryRemoveTokens(1), left: bucket.content };
    },
    async spend(caller, tokens) {
      await bucketOf(caller).removeTokens(tokens);
    },
  };
}

export interface RateLimit {
  /** Counts one request of a caller and sets the RateLimit headers. Throws TooManyRequests. */
  readonly admit: (caller: string, response: Response) => void;
  /** Makes a request that does the work of several use up as much of the limit; waits until there is so much. */
  readonly spend: (caller: string, tokens: number) => Promise<void>;
}

/**
 * The limit of a project, or of a client of the bearer-token host. The headers are those of the IETF draft
 * (draft-ietf-httpapi-ratelimit-headers): the quota, its window, what is left, and the seconds until the bucket is
 * full. 0: no limit and no headers.
 */
export function createRateLimit(per_second: number): RateLimit {
  if (per_second === 0) return { admit: () => {}, spend: () => Promise.resolve() };
  const quota = per_second * BURST_SECONDS;
  const buckets = createTokenBuckets({ per_second, burst: quota });
  return {
    admit(caller, response) {
      const { allowed, left } = buckets.take(caller);
      response.setHeader('RateLimit-Policy', `"default";q=${quota};w=${BURST_SECONDS}`);
      response.setHeader('RateLimit', `"default";r=${Math.floor(left)};t=${Math.ceil((quota - left) / per_second)}`);
      if (!allowed) {
        count('payments_http_requests_refused_total', { limit: 'caller_rate' });
        throw new ServiceError('TooManyRequests', `More than ${per_second} requests a second.`);
      }
    },
    spend: (caller, tokens) => buckets.spend(caller, tokens),
  };
}

/** Bytes of an IPv6 address that identify a network: one customer has a whole /64. */
const IPV6_NETWORK_BYTES = 8;

/** The client's address; of IPv6 its network. Express reads X-Forwarded-For only where TRUSTED_PROXY sent it. */
export function networkOf({ ip = '' }: Pick<Request, 'ip'>): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return address.toByteArray().slice(0, IPV6_NETWORK_BYTES).join('.');
}
