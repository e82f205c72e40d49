import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The part of IPv6 that is assigned to the internet; the rest contains old forms of IPv4 addresses such as ::127.0.0.1.
 */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6));
}

/**
 * Whether a URL itself names this machine or its private network, by a literal address or as localhost. Other names
 * have to be resolved.
 */
export function namesPrivateAddress(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : !isPublicAddress(host);
}
