import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Toxiproxy } from 'toxiproxy-node-client';

/** The file in the data folder of a stack that holds the address of its Toxiproxy. */
const addressFile = (data_dir: string) => path.join(data_dir, 'toxiproxy.address');

export function writeToxiproxyAddress(data_dir: string, address: string): void {
  writeFileSync(addressFile(data_dir), address);
}

/** The servers that a process reaches through a proxy: variable of the address, name in the proxy's name. */
const SERVERS = {
  POSTGRES_URL: 'postgres',
  TEMPORAL_ADDRESS: 'temporal',
  PROCESSOR_URL: 'processor',
  MEILISEARCH_URL: 'meilisearch',
} as const;

export type WireEnd = 'api' | 'worker';
export type WireServer = (typeof SERVERS)[keyof typeof SERVERS];

/** The name of the proxy between a process and a server. */
export const proxyName = (from: WireEnd, to: WireServer) => `${from}-${to}`;

/**
 * Replaces the addresses of servers in this process's environment by those of proxies, which the Toxiproxy of the stack
 * makes unless an earlier process has, and then loads the program. Ends the process if that is not possible.
 */
export function runBehindProxies(from: WireEnd, program: string): void {
  useProxies(from)
    .then(() => import(program))
    .catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    });
}

async function useProxies(from: WireEnd): Promise<void> {
  const toxiproxy = new Toxiproxy(readFileSync(addressFile(process.env['DATA_DIR'] ?? ''), 'utf8'));
  const existing = await toxiproxy.getAll();
  for (const [variable, server] of Object.entries(SERVERS) as [string, WireServer][]) {
    const address = process.env[variable];
    if (address === undefined) continue;
    const name = proxyName(from, server);
    const upstream = hostOf(address);
    const proxy = existing[name] ?? (await toxiproxy.createProxy({ name, listen: '127.0.0.1:0', upstream }));
    process.env[variable] = address.replace(upstream, proxy.listen);
  }
}

/** `host:port` of an address with or without a scheme. */
const hostOf = (address: string) => (address.includes('://') ? new URL(address).host : address);
