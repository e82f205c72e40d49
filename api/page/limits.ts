import type { Request, RequestHandler } from 'express';
import ipaddr from 'ipaddr.js';
import { ServiceError } from '../../src/errors';
import { createTokenBuckets, type Rate } from '../http/rate-limit';

/** Bytes of an IPv6 address that tell networks apart: one customer has a whole /64. */
const IPV6_NETWORK_BYTES = 8;

/** Limits the requests of one client address, whatever the page (rules 18.6). Throws TooManyRequests. */
export function limitByAddress(rate: Rate): RequestHandler {
  const { take } = createTokenBuckets(rate);
  return (request, _response, next) => {
    if (take(networkOf(request)).allowed) return next();
    throw new ServiceError('TooManyRequests', `More than ${rate.per_second} requests a second from this address.`);
  };
}

/** Limits the forms that are sent for one payable (rules 18.6). Throws TooManyRequests. */
export function limitForms(rate: Rate): (payable_id: string) => void {
  const { take } = createTokenBuckets(rate);
  return (payable_id) => {
    if (take(payable_id).allowed) return;
    throw new ServiceError('TooManyRequests', `More than ${rate.per_second} forms a second for this payment.`);
  };
}

/** The client's address; of IPv6 its network. Express reads X-Forwarded-For only where TRUSTED_PROXY sent it. */
function networkOf({ ip = '' }: Request): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return address.toByteArray().slice(0, IPV6_NETWORK_BYTES).join('.');
}
