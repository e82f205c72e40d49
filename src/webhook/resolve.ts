import { Resolver } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { callbackify } from 'node:util';
import { isPublicAddress } from './address';

/** A name leads to no address that a webhook may be sent to; the message is shown to the merchant. */
export class NoAddress extends Error {}

/**
 * Asks the name servers itself. The system's resolver (dns.lookup) waits in one of the process' few threads: four names
 * whose name servers do not answer would stop every look-up of the worker, those of other projects and of the processor
 * too.
 * @public A test sets its servers, in a process of its own.
 */
export const resolver = new Resolver({ timeout: 2_000, tries: 2 });

/** The codes of a name server that answered: there is no such name, or no such address of it. */
const ANSWERED = ['ENOTFOUND', 'ENODATA'];

/**
 * Once there are addresses of one family, those of the other are waited for so long: a name server that does not answer
 * for one of them would use up the time for connecting. Milliseconds.
 */
const OTHER_FAMILY_MS = 500;

async function publicAddresses(hostname: string): Promise<LookupAddress[]> {
  const families = [
    resolver.resolve4(hostname).then((found) => found.map((address) => ({ address, family: 4 }))),
    resolver.resolve6(hostname).then((found) => found.map((address) => ({ address, family: 6 }))),
  ];
  const waited = Promise.any(families).then(async () => {
    await sleep(OTHER_FAMILY_MS, undefined, { ref: false });
    return [];
  });
  const answers = await Promise.allSettled(families.map((family) => Promise.race([family, waited])));
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length === 0) {
    const codes = answers.map(
      (answer) => (answer.status === 'rejected' && (answer.reason as { code?: string }).code) || '',
    );
    const unknown = codes.every((code) => ANSWERED.includes(code));
    throw new NoAddress(unknown ? 'the name of the host is unknown' : 'the name of the host cannot be resolved');
  }
  if (!addresses.every(({ address }) => isPublicAddress(address))) throw new NoAddress('the address is private');
  return addresses;
}

/**
 * Resolves a name when connecting, because it may change a second later. Returns all its addresses, as
 * `autoSelectFamily` needs; fails with NoAddress if any of them is not public.
 */
export const publicLookup = callbackify((hostname: string, _options: object) =>
  publicAddresses(hostname),
) as LookupFunction;
