import type { ReceiverCheckAnswer } from '../../src/contract/receiver-check';
import type { StoredReceiverCheck } from '../../src/db/webhooks/receiver-checks';
import { worstResult, type JudgedCase } from '../../src/domain/receiver-check';
import { receiverCheckWorkflowId } from '../../workflows/messages';
import { formatInstant, formatTimestamp } from './format';

/** A receiver check as the API shows it (rules 27.7). */
export function presentReceiverCheck(check: StoredReceiverCheck): ReceiverCheckAnswer {
  const { id, project_id, webhook_url, created, completed, cases, reason } = check;
  return {
    id,
    project_id,
    workflow_id: receiverCheckWorkflowId(id),
    webhook_url,
    status: completed === null ? 'running' : cases === null ? 'stopped' : 'done',
    ...(cases !== null && { result: worstResult(cases) }),
    ...(reason !== null && { reason }),
    created: formatTimestamp(created),
    ...(completed !== null && { completed: formatTimestamp(completed) }),
    cases: (cases ?? []).map(presentCase),
  };
}

function presentCase({
  case: name,
  result,
  text,
  mend,
  webhooks,
  reads,
}: JudgedCase): ReceiverCheckAnswer['cases'][number] {
  return {
    case: name,
    result,
    text,
    ...(mend !== undefined && { mend }),
    webhooks: webhooks.map(({ order_id, webhook_id, expected, sent_at, duration_ms, failure, status_code }) => ({
      ...{ order_id, webhook_id, expected, duration_ms },
      sent: formatInstant(sent_at),
      ...(status_code !== undefined && { status_code }),
      ...(failure !== undefined && { error: failure }),
    })),
    reads: reads.map(({ received, status, ...read }) => ({
      ...read,
      received: formatInstant(received),
      ...(status !== null && { status }),
    })),
  };
}
