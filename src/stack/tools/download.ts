import { createWriteStream, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EnvHttpProxyAgent, fetch, type Response } from 'undici';
import { runCommand } from './command';

/** Where Temporal's own tools and SDKs download from. */
const OFFICIAL = 'https://temporal.download';
/** Fails quickly where it cannot be reached. Milliseconds. */
const ASK_MS = 5_000;
const FETCH_MS = 10 * 60_000;

/** One of Temporal's official builds. */
export interface Download {
  artifact: 'cli' | 'temporal-test-server';
  version: string;
  /** Another address in tests. */
  from?: string;
}

/**
 * Downloads one of Temporal's official builds for this platform to `target`. Throws an Error with the reason if it
 * cannot.
 */
export async function downloadOfficial(
  { artifact, version, from = OFFICIAL }: Download,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const question = new URLSearchParams({
    arch: ARCHITECTURES[process.arch] ?? process.arch,
    platform: process.platform,
    format: 'tar.gz',
  });
  const asked = await get(
    `${from}/${artifact}/${version}?${question}`,
    AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]),
  );
  const info = (await asked.json()) as { archiveUrl: string; fileToExtract: string };
  const answer = await get(info.archiveUrl, AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]));
  const folder = mkdtempSync(`${target}-`);
  try {
    const archive = path.join(folder, 'archive.tar.gz');
    if (answer.body === null) throw new Error(`${info.archiveUrl} is empty`);
    await pipeline(Readable.fromWeb(answer.body), createWriteStream(archive));
    await runCommand('tar', ['-xzf', archive, '-C', folder, info.fileToExtract], { signal });
    renameSync(path.join(folder, info.fileToExtract), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ARCHITECTURES: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };

async function get(address: string, signal: AbortSignal): Promise<Response> {
  const host = new URL(address).host;
  let answer: Response;
  try {
    // Node's own fetch knows nothing of HTTPS_PROXY.
    answer = await fetch(address, { signal, dispatcher: new EnvHttpProxyAgent() });
  } catch {
    throw new Error(`${host} cannot be reached`);
  }
  if (!answer.ok) throw new Error(`${host} answers ${answer.status}`);
  return answer;
}
