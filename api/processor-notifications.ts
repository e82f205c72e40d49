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
 * 401 and does nothing.
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
    noteRequest(response, { operation: 'processor_notification' });
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
    .post(express.raw({ type: () => true, limit: '64kb' }), handleNotification)
    .all(otherMethods(['post']));
  return router;
}

function read(webhooks: readonly Webhook[], body: Buffer, headers: Record<string, string>) {
  const signed = webhooks.flatMap((webhook) => {
    try {
      return [webhook.verify(body, headers)];
    } catch {
      return [];
    }
  });
  if (signed.length === 0) throw new ServiceError('Unauthorized', 'The notification is not signed by the processor.');
  const notification = notificationSchema.safeParse(signed[0]);
  if (!notification.success) throw new ServiceError('ValidationError', 'The notification is not of the expected form.');
  return notification.data;
}
