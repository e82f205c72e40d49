import express, { Router, type RequestHandler } from 'express';
import { Webhook } from 'standardwebhooks';
import { ServiceError } from '../src/errors';
import type { Logger } from '../src/log';
import { notificationSchema } from '../src/processor/wire';
import type { ProcessorNotifications } from '../src/temporal/processor-notifications';
import { answer } from './http/answer';
import { noteRequest } from './http/answered-request';
import { otherMethods } from './http/bind';
import type { Intake } from './http/intake';

/** How far `webhook-timestamp` may be from now; as in Standard Webhooks. */
const TOLERANCE_SECONDS = 5 * 60;
/** Bodies that are read at a time: anyone may send one, as the signature can be checked only when it is there. */
const READS_MAX = 50;

/** Milliseconds for telling the workflow; the processor sends again what was not received. */
const DEADLINE_MS = 4_000;

/** The services that check notifications and act on them. */
export interface NotificationServices {
  processor_notifications: Pick<ProcessorNotifications, 'handle' | 'settlementsCreated'>;
  /** `whsec_…`, shared with the processor: two while one replaces the other. */
  secrets: string[];
  log: Logger;
  intake: Pick<Intake, 'requireOpen'>;
}

/**
 * Receives the processor's notifications. Their content is not trusted: the workflow polls the processor by key, so a
 * late, repeated or out-of-order notification does no harm. A forged one, or one older than five minutes, is answered
 * 401 and does nothing. It is 503 when so many others come meanwhile that it is not read: the processor sends it again.
 */
export function processorNotifications({
  processor_notifications,
  secrets,
  log,
  intake,
}: NotificationServices): Router {
  const webhooks = secrets.map((secret) => new Webhook(secret));
  const router = Router({ caseSensitive: true });
  const handleNotification: RequestHandler = async (request, response) => {
    intake.requireOpen();
    const notification = read(webhooks, request.body as Buffer, request.headers as Record<string, string>);
    const deadline_at = Date.now() + DEADLINE_MS;
    if (notification.type === 'settlements.created') {
      log.info('settlement notification received');
      await processor_notifications.settlementsCreated(deadline_at);
    } else {
      const { operation } = notification;
      log.info({ order_id: operation.order_id, operation: operation.operation }, 'processor notification received');
      await processor_notifications.handle(operation, deadline_at);
    }
    answer(response, 200, { received: true });
  };
  router
    .route('/processor/notifications')
    .post(checkHeaders, readBodies(), handleNotification)
    .all(otherMethods(['post']));
  return router;
}

/** Refuses a notification that no body would make valid, before its body is read. */
const checkHeaders: RequestHandler = ({ headers }, response, next) => {
  noteRequest(response, { operation: 'processor_notification' });
  const { ['webhook-id']: id, ['webhook-timestamp']: timestamp, ['webhook-signature']: signature } = headers;
  const seconds = Math.floor(Date.now() / 1_000) - Number.parseInt(String(timestamp), 10);
  if (!id || !signature || !(Math.abs(seconds) <= TOLERANCE_SECONDS)) throw notSigned();
  next();
};

/**
 * Reads the bodies, a few at a time. Beyond the limit the one that has taken the longest is refused, so that clients
 * who send none do not keep the processor's away, which come with their headers.
 */
function readBodies(): RequestHandler {
  const readRaw = express.raw({ type: () => true, limit: '64kb' });
  /** Refuses a body that is being read. The first one began first. */
  const reads = new Set<() => void>();
  return (request, response, next) => {
    const end = (error?: unknown) => {
      if (reads.delete(refuse)) next(error);
    };
    const refuse = () => {
      // Otherwise the rest of the body would be read.
      response.setHeader('Connection', 'close');
      end(new ServiceError('ServiceUnavailable', 'Too many notifications are sent at a time.'));
    };
    reads.add(refuse);
    response.once('close', () => reads.delete(refuse));
    if (reads.size > READS_MAX) [...reads][0]!();
    readRaw(request, response, end);
  };
}

const notSigned = () => new ServiceError('Unauthorized', 'The notification is not signed by the processor.');

function read(webhooks: readonly Webhook[], body: Buffer, headers: Record<string, string>) {
  const signed = webhooks.flatMap((webhook) => {
    try {
      return [webhook.verify(body, headers)];
    } catch {
      return [];
    }
  });
  if (signed.length === 0) throw notSigned();
  const notification = notificationSchema.safeParse(signed[0]);
  if (!notification.success) throw new ServiceError('ValidationError', 'The notification is not of the expected form.');
  return notification.data;
}
