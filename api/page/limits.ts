import type { RequestHandler } from 'express';
import { ServiceError } from '../../src/errors';
import { incrementCounter } from '../../src/metrics/recorder';
import { createTokenBuckets, networkOf, type Rate } from '../http/rate-limit';

/** Limits the requests of one client address, whatever the page (rules 18.6). Throws TooManyRequests. */
export function limitByAddress(rate: Rate): RequestHandler {
  const { take } = createTokenBuckets(rate);
  return (request, _response, next) => {
    if (take(networkOf(request)).allowed) return next();
    incrementCounter('payments_http_requests_refused_total', { limit: 'page_rate' });
    throw new ServiceError('TooManyRequests', `More than ${rate.per_second} requests a second from this address.`);
  };
}

/** Limits the forms that are sent for one payable (rules 18.6). Throws TooManyRequests. */
export function limitForms(rate: Rate): (payable_id: string) => void {
  const { take } = createTokenBuckets(rate);
  return (payable_id) => {
    if (take(payable_id).allowed) return;
    incrementCounter('payments_http_requests_refused_total', { limit: 'form_rate' });
    throw new ServiceError('TooManyRequests', `More than ${rate.per_second} forms a second for this payment.`);
  };
}
