import { setTimeout as sleep } from 'node:timers/promises';
import { MERCHANT_API, type MerchantRoutes } from '../../src/contract/merchant-api';
import { REQUEST_ROUTES } from '../../src/contract/request-log';
import type { Route } from '../../src/contract/routes';
import { isUnavailable } from '../../src/db/availability';
import type { Database } from '../../src/db/query';
import { insertLoggedRequests, type LoggedRequest } from '../../src/db/requests/logged-requests';
import type { Logger } from '../../src/log';
import { toIsoTime } from '../../src/time';
import type { AnsweredRequest, RequestObserver } from './answered-request';
import { declaredNames, type DeclaredNames } from './declared-names';

/** Limits of the rows that wait to be written. */
export const RECORDER_LIMITS = {
  /** Further requests are lost while so many wait: about 10 MB. */
  waiting: 10_000,
  /** Rows of one statement. */
  batch: 500,
  /** Pause between two writes, and after a write that failed. Milliseconds. */
  every_ms: 1_000,
  /** How long the last write may take when the process stops. Milliseconds. */
  close_ms: 1_500,
};

/**
 * Rows a second of one project that the rate limit or another limit refused: a client that does not slow down would
 * fill the log with them, and take the places of other projects' rows.
 */
const REFUSALS_PER_SECOND = 10;

/** How often the log says how many requests have no row. Milliseconds. */
const REPORT_MS = 60_000;

/**
 * Writes the answered requests of projects to the merchants' request log (rules 25), after the answer and in batches.
 * While Postgres is unavailable the rows wait; those beyond the limit are lost. Requests without a row are counted and
 * reported in the log.
 */
export class RequestRecorder {
  private readonly rows: LoggedRequest[] = [];
  private readonly names: DeclaredNames;
  private readonly closing = new AbortController();
  private writing: Promise<void> | undefined;
  /** Requests without a row since the process started. */
  private readonly missing = { lost: 0, refused: 0 };
  /** Refusals of this second, by project. */
  private refusals = { second: 0, counts: new Map<string, number>() };
  private report: { before: RequestRecorder['missing']; timer: NodeJS.Timeout } | undefined;

  /** `document`: the OpenAPI document of the merchants' API, which declares the names of its fields. */
  constructor(
    private readonly services: { db: Database; log: Logger; document: unknown },
    private readonly limits = RECORDER_LIMITS,
  ) {
    this.names = declaredNames(services.document);
  }

  /** Requests that were not written since the process started. */
  get lost(): number {
    return this.missing.lost;
  }

  /** Refused requests beyond those that get a row, since the process started. */
  get refused(): number {
    return this.missing.refused;
  }

  /** Requests that wait to be written. */
  get waiting(): number {
    return this.rows.length;
  }

  /** Takes an answered request. Returns at once. */
  readonly observe: RequestObserver = (request) => {
    const row = rowOf(request, this.names);
    if (row === undefined) return;
    if (row.error_type === 'TooManyRequests' && !this.takesRefusal(row.project_id)) return this.miss('refused', 1);
    if (this.rows.length >= this.limits.waiting) return this.miss('lost', 1);
    this.rows.push(row);
    this.writing ??= this.writeAll();
  };

  /** Writes the rows that wait, within a time limit. Call it once no further request is answered. */
  async close(): Promise<void> {
    this.closing.abort();
    await Promise.race([this.writing, sleep(this.limits.close_ms, undefined, { ref: false })]);
    if (this.rows.length > 0) this.miss('lost', this.rows.length);
    this.reportMissing();
  }

  /** Counts a refused request of a project. Returns whether it gets a row. */
  private takesRefusal(project_id: string): boolean {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.refusals.second) this.refusals = { second, counts: new Map() };
    const { counts } = this.refusals;
    const count = (counts.get(project_id) ?? 0) + 1;
    counts.set(project_id, count);
    return count <= REFUSALS_PER_SECOND;
  }

  private async writeAll(): Promise<void> {
    while (this.rows.length > 0) {
      if (!this.closing.signal.aborted) {
        await sleep(this.limits.every_ms, undefined, { signal: this.closing.signal }).catch(() => undefined);
      }
      while (this.rows.length > 0 && (await this.writeBatch()));
      // The last try of a process that stops has failed.
      if (this.closing.signal.aborted && this.rows.length > 0) break;
    }
    this.writing = undefined;
  }

  /** Writes the oldest rows. `false`: Postgres is unavailable, and they wait. */
  private async writeBatch(): Promise<boolean> {
    const { db, log } = this.services;
    const batch = this.rows.slice(0, this.limits.batch);
    try {
      await insertLoggedRequests(db, batch);
    } catch (error) {
      if (isUnavailable(error)) return false;
      log.error({ err: error }, 'the request log could not be written');
      this.miss('lost', batch.length);
    }
    this.rows.splice(0, batch.length);
    return true;
  }

  private miss(reason: 'lost' | 'refused', count: number): void {
    const before = { ...this.missing };
    this.missing[reason] += count;
    this.report ??= { before, timer: setTimeout(() => this.reportMissing(), REPORT_MS).unref() };
  }

  private reportMissing(): void {
    if (this.report === undefined) return;
    const { before, timer } = this.report;
    clearTimeout(timer);
    this.services.log.warn(
      { requests: this.missing.lost - before.lost, refused_requests: this.missing.refused - before.refused },
      'requests are missing in the request log',
    );
    this.report = undefined;
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The row of a request; `undefined` for one that does not belong to the log (rules 25.2). */
function rowOf(request: AnsweredRequest, names: DeclaredNames): LoggedRequest | undefined {
  const { operation, project_id, api_key_id, order_id, payment_link_id, transaction_id, n, object_id } = request.fields;
  if (operation === undefined || project_id === undefined || api_key_id === undefined) return undefined;
  if (Object.hasOwn(REQUEST_ROUTES, operation)) return undefined;
  const { path }: Route = MERCHANT_API.routes[operation as keyof MerchantRoutes];
  const { error } = request;
  const object = object_id !== undefined && object_id !== project_id && UUID.test(object_id) ? object_id : null;
  return {
    id: request.request_id,
    project_id,
    api_key_id,
    received: toIsoTime(request.received_at),
    operation,
    method: request.method,
    path,
    status: request.was_sent ? request.status : null,
    duration_ms: request.ms,
    error_type: error?.type ?? null,
    error_fields: error
      ? [...new Set((error.details ?? []).flatMap((field) => names.declaredPart(field.path) ?? []))]
      : null,
    idempotency_key: request.idempotency_key ?? null,
    is_repeat: request.is_repeat,
    order_id: order_id ?? (operation === 'createOrder' ? object : null),
    transaction_id: transaction_id ?? null,
    payment_link_id: payment_link_id ?? (operation === 'createPaymentLink' ? object : null),
    n: n === undefined ? null : Number(n),
    object_id: object,
  };
}
