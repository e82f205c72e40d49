import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { currentTraceparent, inSpan } from '../tracing/spans';
import type { PostWebhook } from './post';

/** Sends webhooks in a span each, whose `traceparent` goes to the receiver. */
export const tracedAttempts =
  (post: PostWebhook): PostWebhook =>
  async (webhook) =>
    await inSpan({ name: 'webhook attempt', kind: SpanKind.CLIENT }, async (span) => {
      const answer = await post({ ...webhook, traceparent: currentTraceparent() });
      if (answer.status_code !== undefined) span.setAttribute('http.response.status_code', answer.status_code);
      if (answer.failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      return answer;
    });
