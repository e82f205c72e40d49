import ipaddr from 'ipaddr.js';
import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import type { Request, Response } from 'express';
import { ServiceError } from '../../src/errors';
import { incrementCounter } from '../../src/metrics/recorder';

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
  /** Takes a token. Returns whether there was one, and the remaining tokens, with fractions; a debt is negative. */
  readonly take: (caller: string) => { allowed: boolean; left: number };
  /**
   * Takes so many tokens when the rate has brought what is missing, after the spends before; more than a full bucket in
   * parts. Tokens that `take` has taken meanwhile are a debt: it finds none until the rate has brought these, too.
   */
  readonly spend: (caller: string, tokens: number, signal?: AbortSignal) => Promise<void>;
}

interface Bucket {
  readonly tokens: TokenBucket;
  /** Ends with the last of its spends, which take turns. */
  spends: Promise<void>;
}

export function createTokenBuckets({ per_second, burst }: Rate): TokenBuckets {
  const buckets = new LRUCache<string, Bucket>({ max: BUCKETS_MAX });

  function newBucket(caller: string): Bucket {
    const tokens = new TokenBucket({ bucketSize: burst, tokensPerInterval: per_second, interval: 'second' });
    // The library's buckets begin empty.
    tokens.content = burst;
    const bucket = { tokens, spends: Promise.resolve() };
    buckets.set(caller, bucket);
    return bucket;
  }

  // The library would wait until all are there at once: never, while others take each that drips in. In parts, as what
  // drips into a full bucket is lost.
  async function spendNext({ tokens }: Bucket, wanted: number, signal: AbortSignal | undefined): Promise<void> {
    for (let left = wanted; left > 0; left -= burst) {
      const part = Math.min(left, burst);
      if (signal?.aborted) return;
      tokens.drip();
      const missing = part - tokens.content;
      if (missing > 0) await pause((missing / per_second) * 1_000, signal);
      if (signal?.aborted) return;
      tokens.drip();
      tokens.content -= part;
    }
  }

  const bucketOf = (caller: string) => buckets.get(caller) ?? newBucket(caller);
  return {
    take(caller) {
      const { tokens } = bucketOf(caller);
      return { allowed: tokens.tryRemoveTokens(1), left: tokens.content };
    },
    async spend(caller, wanted, signal) {
      const bucket = bucketOf(caller);
      bucket.spends = bucket.spends.then(() => spendNext(bucket, wanted, signal));
      await bucket.spends;
    },
  };
}

export interface RateLimit {
  /** Counts one request of a caller and sets the RateLimit headers. Throws TooManyRequests. */
  readonly admit: (caller: string, response: Response) => void;
  /**
   * Makes a request that does the work of several use up as much of the limit; waits for the time that this takes. Once
   * `signal` is aborted it takes nothing any more.
   */
  readonly spend: (caller: string, tokens: number, signal?: AbortSignal) => Promise<void>;
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
      const [whole, full_in] = [Math.max(0, Math.floor(left)), Math.ceil((quota - left) / per_second)];
      response.setHeader('RateLimit', `"default";r=${whole};t=${full_in}`);
      if (!allowed) {
        incrementCounter('payments_http_requests_refused_total', { limit: 'caller_rate' });
        throw new ServiceError('TooManyRequests', `More than ${per_second} requests a second.`);
      }
    },
    spend: (caller, tokens, signal) => buckets.spend(caller, tokens, signal),
  };
}

/** Resolves after a time in milliseconds, or once `signal` is aborted. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => (clearTimeout(timer), signal?.removeEventListener('abort', end), resolve());
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
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
