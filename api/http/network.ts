import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/** Bytes of an IPv6 address that identify a network: one customer has a whole /64. */
const IPV6_NETWORK_BYTES = 8;

/** The client's address; of IPv6 its network. Express reads X-Forwarded-For only where TRUSTED_PROXY sent it. */
export function networkOf({ ip = '' }: Pick<Request, 'ip'>): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return address.toByteArray().slice(0, IPV6_NETWORK_BYTES).join('.');
}
