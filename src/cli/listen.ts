import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listWebhookEvents, ok, project, type WebhookEventPage } from '../client';
import { WEBHOOK_ATTEMPTS_MAX, webhookTimeLimit } from '../domain/delivery';
import { writeWhole } from '../stack/files';
import { postWebhook } from '../webhook/post';
import { CommandError, failureInWords, mayAnswerLater, type Place } from './place';

type WebhookEvent = WebhookEventPage['items'][number];

export interface ListenOptions {
  place: Place;
  /** The local address that gets the webhooks. */
  forward_to: string;
  /** `whsec_…`, which signs them. */
  secret: string;
  /** Keeps the place after the last webhook that was sent. */
  cursor_file: string;
  /** Leaves out the webhooks since the last time. */
  from_now: boolean;
  /** Prints a line. */
  print: (line: string) => void;
}

/** From one attempt of a webhook to the next, and from one call of a silent service to the next. Milliseconds. */
const AGAIN_AFTER_MS = 1_000;
/** How long the service waits for an event before it answers, in seconds. */
const WAIT_SECONDS = 30;
/** Pages of events that are sent at the same time: a receiver that is slow does not stop those of other orders. */
const OPEN_PAGES_MAX = 10;

/**
 * Sends the webhooks of a test project to a local address until the process ends (rules 13.21): those since the last
 * time first. It keeps its place once all webhooks up to it were answered, so that after a stop none is lost and some
 * are sent again. While the service does not answer it asks again. Throws CommandError when the service refuses.
 */
export async function forwardEvents(options: ListenOptions): Promise<never> {
  let cursor = options.from_now ? undefined : readCursor(options.cursor_file);
  let kept: Promise<void> = Promise.resolve();
  let open = 0;
  let fail: (error: unknown) => void;
  const failed = new Promise<never>((_resolve, reject) => (fail = reject));
  for (;;) {
    const asked = performance.now();
    const page = await Promise.race([nextPage(options, cursor), failed]);
    if (page.cursor === cursor) {
      // Too many requests wait, or the API stops: it does not wait.
      if (performance.now() - asked < AGAIN_AFTER_MS) await sleep(AGAIN_AFTER_MS);
      continue;
    }
    const next = page.cursor;
    cursor = next;
    open += 1;
    const sent = Promise.all(page.items.map((event) => forward(options, event)));
    kept = Promise.all([kept, sent]).then(() => {
      open -= 1;
      writeCursor(options.cursor_file, next);
    });
    kept.catch((error: unknown) => fail(error));
    if (open >= OPEN_PAGES_MAX) await kept;
  }
}

/** The events after the cursor, once there are any; asks again while the service does not answer. */
async function nextPage({ place, print }: ListenOptions, cursor: string | undefined): Promise<WebhookEventPage> {
  for (let is_silent = false; ; is_silent = true) {
    try {
      const page = await ok(
        listWebhookEvents(
          { ...(cursor !== undefined && { cursor }), prefer: `wait=${WAIT_SECONDS}` },
          { ...project(place), signal: AbortSignal.timeout((WAIT_SECONDS + 10) * 1_000) },
        ),
      );
      if (is_silent) print('The service answers again.');
      return page;
    } catch (error) {
      const reason = failureInWords(place, error);
      if (!mayAnswerLater(error)) throw new CommandError(reason, { cause: error });
      if (!is_silent) print(`${reason} Trying again.`);
      await sleep(AGAIN_AFTER_MS);
    }
  }
}

/**
 * Sends a webhook as the service does, but a second instead of two minutes after a failed attempt. While nothing
 * listens at the address it waits: such attempts do not count.
 */
async function forward({ forward_to, secret, print }: ListenOptions, event: WebhookEvent): Promise<void> {
  const { webhook_id, created: _, ...body } = event;
  let is_refused = false;
  for (let attempt = 1; attempt <= WEBHOOK_ATTEMPTS_MAX;) {
    const answer = await postWebhook({
      url: forward_to,
      webhook_id,
      body,
      secrets: [secret],
      time_limit_ms: webhookTimeLimit(attempt),
      private_addresses: true,
    });
    if (answer.failure === 'the connection was refused') {
      if (!is_refused) print(`${webhook_id}  nothing listens at ${forward_to}; waiting for it`);
      is_refused = true;
    } else {
      print(`${webhook_id}  ${answer.status_code ?? answer.failure}  ${answer.duration_ms} ms`);
      if (answer.failure === undefined) return;
      attempt += 1;
    }
    await sleep(AGAIN_AFTER_MS);
  }
  print(`${webhook_id}  given up after ${WEBHOOK_ATTEMPTS_MAX} attempts`);
}

function readCursor(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Whole or not at all: a process that is killed must not leave half a cursor. */
function writeCursor(file: string, cursor: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeWhole(file, `${cursor}\n`);
}
