import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether an address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.process(address).range() === 'unicast';
}

/** Whether a URL itself names this machine or its private network, by a literal address or as localhost. Other names have to be resolved. */
export function namesPrivateAddress(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : !isPublicAddress(host);
}
