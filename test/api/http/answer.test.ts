import http from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import pino from 'pino';
import { answerStream } from '../../../api/http/answer';
import { onError } from '../../../api/http/errors';
import { Stream, jsonArray } from '../../../api/operation';
import { ServiceError } from '../../../src/errors';
import { until } from '../../support/until';

let server: http.Server;
let url: string;
/** What the server answers with. */
let stream: Stream;
beforeAll(async () => {
  const app = express();
  app.get('/', (request, response) => answerStream(request, response, 200, stream));
  app.use(onError(pino({ level: 'silent' }), 'Basic'));
  server = app.listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => new Promise((closed) => server.close(closed)));

const streamOf = (chunks: () => AsyncGenerator<string>) => new Stream('text/plain', chunks());

test('pieces of a JSON array, empty ones too, are one array', async () => {
  async function* pieces() {
    yield [];
    yield ['1', '{"a":2}'];
    yield [];
    yield ['3'];
  }
  stream = jsonArray(pieces());
  const response = await fetch(url);
  expect([response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
    'application/json',
    'no-store',
  ]);
  expect(await response.json()).toEqual([1, { a: 2 }, 3]);
});

test('nothing is an empty array', async () => {
  stream = jsonArray((async function* () {})());
  expect(await (await fetch(url)).text()).toBe('[]');
});

test('HEAD answers without reading further than the first piece', async () => {
  let read = 0;
  stream = streamOf(async function* () {
    for (;;) yield String((read += 1));
  });
  const response = await fetch(url, { method: 'HEAD' });
  expect([response.status, response.headers.get('content-type'), read]).toEqual([200, 'text/plain', 1]);
});

test('a failure before the first piece is an error like any other', async () => {
  // oxlint-disable-next-line require-yield
  stream = streamOf(async function* () {
    throw new ServiceError('Conflict', 'Too early.');
  });
  const response = await fetch(url);
  expect([response.status, await response.json()]).toEqual([
    409,
    { error: { status: 409, type: 'Conflict', value: 'Too early.' } },
  ]);
});

test('a later failure breaks the connection: a partial answer never looks complete', async () => {
  stream = streamOf(async function* () {
    yield 'first';
    throw new Error('the database is gone');
  });
  const response = await fetch(url);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow('terminated');
});

test('a reader that takes nothing more holds the stream back; one that leaves ends it', async () => {
  let made = 0;
  let ended = false;
  stream = streamOf(async function* () {
    try {
      // A stream without end: made ahead of its reader, it would never stop.
      for (;;) {
        made += 1;
        yield 'x'.repeat(100_000);
      }
    } finally {
      ended = true;
    }
  });
  const response = await new Promise<http.IncomingMessage>((resolve) => http.get(url, resolve));
  await new Promise((readable) => response.once('readable', readable));
  let before = -1;
  await until('nothing more is made', () => {
    const same = made === before;
    before = made;
    return same;
  });
  expect(ended).toBe(false);
  response.destroy();
  expect(await until('the stream has ended', () => ended)).toBe(true);
});
