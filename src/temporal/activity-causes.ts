import { SpanKind } from '@opentelemetry/api';
import type { Info } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { causeFields, withCause } from '../tracing/cause';
import { contextOf, inSpan } from '../tracing/spans';
import { isTracing } from '../tracing/tracing';
import { REQUEST_HEADER, TRACE_HEADER } from '../../workflows/messages';
import { objectAttributes } from './object-attributes';
import { headerText } from './trace-calls';

/** A request id as the API makes it; it is written into a column of type uuid. */
const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Runs each activity with the request that caused it, which all its log lines name. With traces it runs in a span below
 * the call that caused it.
 */
export const activityCauses: ActivityInterceptorsFactory = ({ info }) => {
  let fields = {};
  return {
    inbound: {
      async execute({ headers, args }, next) {
        const request_id = headerText(headers[REQUEST_HEADER]);
        const is_id = request_id !== undefined && REQUEST_ID.test(request_id);
        const run = async (): Promise<unknown> => {
          try {
            return await next({ headers, args });
          } finally {
            fields = causeFields();
          }
        };
        return await withCause(is_id ? request_id : undefined, async () => {
          if (!isTracing()) return await run();
          return await inSpan(factsOf(info), run, contextOf(headerText(headers[TRACE_HEADER])));
        });
      },
    },
    // The SDK logs the failure of an activity after its end.
    outbound: { getLogAttributes: (attributes, next) => next({ ...attributes, ...fields }) },
  };
};

function factsOf({ activityType, workflowExecution, attempt, isLocal }: Info) {
  return {
    name: `activity ${activityType}`,
    kind: SpanKind.CONSUMER,
    attributes: {
      ...(workflowExecution && objectAttributes(workflowExecution.workflowId)),
      'temporal.attempt': attempt,
      'temporal.is_local': isLocal,
    },
  };
}
