import http from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import pino from 'pino';
import type { TakePlace } from '../../../api/large-answers/bulk-reads';
import { ConcurrencyLimit } from '../../../api/http/concurrency-limit';
import { answerStream } from '../../../api/http/answer';
import { onError } from '../../../api/http/errors';
import { Stream, jsonArray } from '../../../api/operation';
import { ServiceError } from '../../../src/errors';
import { until } from '../../support/waits';

let server: http.Server;
let url: string;
/** What the server answers with, and how. */
let stream: Stream;
let options: Partial<Parameters<typeof answerStream>[2]> = {};
const takePlace: TakePlace = () => Promise.resolve(() => {});
beforeAll(async () => {
  const app = express();
  app.get('/', (request, response) =>
    answerStream(request, response, { status: 200, deadline_at: Date.now() + 5_000, ...options }, stream),
  );
  app.use(onError(pino({ level: 'silent' }), 'Basic'));
  server = app.listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => new Promise((closed) => server.close(closed)));

const streamOf = (chunks: () => AsyncGenerator<string>) => new Stream('text/plain', chunks, takePlace);

test('pieces of a JSON array, empty ones too, are one array', async () => {
  async function* pieces() {
    yield [];
    yield ['1', '{"a":2}'];
    yield [];
    yield ['3'];
  }
  stream = jsonArray(pieces, takePlace);
  const response = await fetch(url);
  expect([response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
    'application/json',
    'no-store',
  ]);
  expect(await response.json()).toEqual([1, { a: 2 }, 3]);
});

test('nothing is an empty array', async () => {
  stream = jsonArray(async function* () {}, takePlace);
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

test('rules 20.16: a later failure breaks the connection: a partial answer never looks complete', async () => {
  stream = streamOf(async function* () {
    yield 'first';
    throw new Error('the database is gone');
  });
  const response = await fetch(url);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow('terminated');
});

test('rules 20.16: over HTTP/1.0, where a body ends with its connection, a failure resets it', async () => {
  let received: () => void;
  const bodyOf = async (chunks: () => AsyncGenerator<string>) => {
    stream = streamOf(chunks);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('data', () => received()).write('GET / HTTP/1.0\r\n\r\n');
    return (await text(socket)).split('\r\n\r\n')[1];
  };
  async function* whole() {
    yield 'first';
    // A client of Node takes a reset for the end while it reads.
    await new Promise<void>((resolve) => (received = resolve));
  }
  async function* part() {
    yield* whole();
    throw new Error('the database is gone');
  }
  expect(await bodyOf(whole)).toBe('first');
  await expect(bodyOf(part)).rejects.toMatchObject({ code: 'ECONNRESET' });
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

describe('rules 18.8: a stream is sent from a place of its own', () => {
  /** Places of which so many are free; the rest waits. */
  function places(free: number) {
    const limit = new ConcurrencyLimit({ what: 'streams', per_caller: { running: free, waiting: 9 }, running: free });
    let taken = 0;
    const takePlace: TakePlace = async (signal) => {
      const release = await limit.acquire('project', signal);
      taken += 1;
      return () => {
        taken -= 1;
        release();
      };
    };
    return { takePlace, taken: () => taken };
  }
  async function* endless() {
    for (;;) yield 'x'.repeat(100_000);
  }
  afterEach(() => (options = {}));

  test('no place until the deadline: 429 with Retry-After, and nothing is read', async () => {
    const { takePlace } = places(0);
    let read = 0;
    stream = new Stream(
      'text/plain',
      async function* () {
        yield String((read += 1));
      },
      takePlace,
    );
    options = { deadline_at: Date.now() + 50 };
    const response = await fetch(url);
    expect([response.status, response.headers.get('retry-after'), read]).toEqual([429, '1', 0]);
  });

  test('no first piece until the deadline: 429 with Retry-After, and the place is free', async () => {
    const { takePlace, taken } = places(1);
    // oxlint-disable-next-line require-yield
    async function* stalled() {
      await new Promise(() => {});
    }
    stream = new Stream('text/plain', stalled, takePlace);
    options = { deadline_at: Date.now() + 50 };
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    expect([response.status, response.headers.get('retry-after'), taken()]).toEqual([429, '1', 0]);
  });

  test('the place is free again once the answer was sent, or failed', async () => {
    const { takePlace, taken } = places(1);
    async function* failing() {
      yield 'first';
      throw new Error('the database is gone');
    }
    for (const chunks of [jsonArray(async function* () {}, takePlace).chunks, failing]) {
      stream = new Stream('text/plain', chunks, takePlace);
      await (await fetch(url)).text().catch(() => undefined);
      expect(await until('the place is free', () => taken() === 0)).toBe(true);
    }
  });

  test('a client that leaves makes its place free, also while it waits for it', async () => {
    const { takePlace, taken } = places(1);
    stream = new Stream('text/plain', endless, takePlace);
    const response = await new Promise<http.IncomingMessage>((resolve) => http.get(url, resolve));
    const waiting = http.get(url).on('error', () => undefined);
    await new Promise((sent) => waiting.once('finish', sent));
    waiting.destroy();
    response.destroy();
    expect(await until('the place is free', () => taken() === 0)).toBe(true);
    stream = new Stream('text/plain', async function* () {}, takePlace);
    expect((await fetch(url)).status).toBe(200);
  });

  test('rules 18.9: a client that takes less than the least speed is disconnected', async () => {
    const { takePlace, taken } = places(1);
    stream = new Stream('text/plain', endless, takePlace);
    options = { least_speed: { bytes: 100_000_000, per_ms: 100 } };
    const response = await new Promise<http.IncomingMessage>((resolve) => http.get(url, resolve));
    response.on('error', () => undefined);
    // It takes a little again and again: never nothing.
    const reader = setInterval(() => response.read(10), 10);
    expect(await until('the place is free', () => taken() === 0)).toBe(true);
    clearInterval(reader);
    response.destroy();
  });

  test('a stream that is made slowly is sent to its end', async () => {
    const { takePlace } = places(1);
    // Its deadline is that of the first piece.
    const deadline_at = Date.now() + 1_000;
    options = { least_speed: { bytes: 100_000_000, per_ms: 20 }, deadline_at };
    async function* slow() {
      yield 'x';
      while (Date.now() < deadline_at + 50) await sleep(20);
      yield 'x';
    }
    stream = new Stream('text/plain', slow, takePlace);
    expect(await (await fetch(url)).text()).toBe('xx');
  });
});
