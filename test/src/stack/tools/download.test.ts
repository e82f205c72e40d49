import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { downloadOfficial } from '../../../../src/stack/tools/download';

let folder: string;
let server: Server;
let from: string;
const asked: string[] = [];
const { signal } = new AbortController();

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'download-'));
  mkdirSync(path.join(folder, 'server_1'));
  writeFileSync(path.join(folder, 'server_1', 'server'), '#!/bin/sh\necho I am\n', { mode: 0o755 });
  execFileSync('tar', ['-czf', path.join(folder, 'a.tar.gz'), '-C', folder, 'server_1']);
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/a.tar.gz') response.end(readFileSync(path.join(folder, 'a.tar.gz')));
    else if (request.url?.startsWith('/cli/v1')) {
      response.end(JSON.stringify({ archiveUrl: `${from}/a.tar.gz`, fileToExtract: 'server_1/server' }));
    } else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  from = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  rmSync(folder, { recursive: true, force: true });
});

test('asks for this platform, brings the program out of the archive, and leaves nothing else', async () => {
  const target = path.join(folder, 'into', 'server');
  mkdirSync(path.dirname(target));
  await downloadOfficial({ artifact: 'cli', version: 'v1', from }, target, signal);
  expect(execFileSync(target, { encoding: 'utf8' })).toBe('I am\n');
  expect(readdirSync(path.dirname(target))).toEqual(['server']);
  expect(asked[0]).toMatch(/^\/cli\/v1\?arch=(amd64|arm64)&platform=\w+&format=tar\.gz$/);
});

test.each([
  [
    'a version that is not there',
    () => ({ artifact: 'cli' as const, version: 'v2', from }),
    /^127\.0\.0\.1:\d+ answers 404$/,
  ],
  [
    'no way there',
    () => ({ artifact: 'cli' as const, version: 'v1', from: 'http://127.0.0.1:1' }),
    /^127\.0\.0\.1:1 cannot be reached$/,
  ],
])('%s is said in a few words', async (_, download, words) => {
  await expect(downloadOfficial(download(), path.join(folder, 'none'), signal)).rejects.toThrow(words);
});
