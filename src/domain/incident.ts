/** The kinds of incidents: how the record and the processor differ (rules 26.5). */
export const INCIDENT_KINDS = [
  'missing_in_record',
  'status',
  'amount',
  'double_charge',
  'refund_too_large',
  'settlement',
  'sum',
] as const;
export type IncidentKind = (typeof INCIDENT_KINDS)[number];

/** A difference in money. Amounts in minor units of the currency. */
export interface Difference {
  kind: IncidentKind;
  /** The transaction, in the form in which the record has it or should have it; of a sum the sum's name. */
  object_id: string;
  project_id: string;
  /** The payment order; null for a sum. */
  order_id: string | null;
  transaction_id: string | null;
  currency: string;
  record_amount: number;
  processor_amount: number;
  /** In words, for operators. */
  description: string;
}

/** The event about an incident, to the operator's webhook. */
export type IncidentEvent = 'opened' | 'closed';

/** An incident as its workflow sees it. */
export interface IncidentProgress {
  kind: IncidentKind;
  is_closed: boolean;
  /** The event that the operator's webhook has not got yet. */
  due_event?: IncidentEvent | undefined;
  /** An event could not be delivered. */
  has_failed_event: boolean;
  /** In words: what differs. */
  description: string;
  /** Incidents follow real time. */
  clock_offset_ms: 0;
}
