import { countOpenIncidents } from '../db/audit/incidents';
import type { Database } from '../db/query';
import { findFigures, findRolledEnds, type Figures, type RolledEnd } from '../db/metrics/figures';
import { countOpenAttentions } from '../db/recovery/attentions';
import { ATTENTION_KINDS, type AttentionKind } from '../domain/attention';
import { INCIDENT_KINDS, type IncidentKind } from '../domain/incident';
import type { Logger } from '../log';
import { Loop } from '../loop';
import type { GaugeName, LabelsOf } from '../metrics/catalogue';
import { gauge } from '../metrics/recorder';

/** Pause between two reads. Milliseconds. */
const EVERY_MS = 10_000;

type Unlabelled = { [N in GaugeName]: keyof LabelsOf<N> extends never ? N : never }[GaugeName];

/** The metric of each figure. */
const METRIC_OF = {
  unknown_outcomes: 'payments_unknown_outcomes',
  unknown_outcome_age: 'payments_unknown_outcome_oldest_age_seconds',
  outbox_rows: 'payments_indexer_outbox_rows',
  outbox_age: 'payments_indexer_outbox_oldest_age_seconds',
  refused_orders: 'payments_indexer_refused_orders',
  deliveries_due: 'payments_webhook_deliveries_due',
  delivery_age: 'payments_webhook_due_oldest_age_seconds',
  recovery_behind: 'payments_recovery_behind_seconds',
  audit_behind: 'payments_audit_behind_seconds',
  settlements_behind: 'payments_settlements_behind_seconds',
  rolled_keys_in_use: 'payments_rolled_api_keys_in_use',
  archive_age: 'payments_postgres_archive_age_seconds',
  archive_fails: 'payments_postgres_archive_failing',
  backup_check_age: 'payments_backup_check_age_seconds',
} as const satisfies Record<keyof Figures, Unlabelled>;

type Counts<Kind> = readonly { kind: Kind; count: number }[];

/**
 * Reads figures of the record for the metrics, while this process has the lease of recovery: one worker is enough.
 * Without the lease, and after a read that failed, they are not exported. The first failure in a row is logged.
 */
export class FigureReader {
  private readonly loop = new Loop(() => this.round());
  private figures: Partial<Figures> = {};
  private incidents: Counts<IncidentKind> | undefined;
  private attentions: Counts<AttentionKind> | undefined;
  private rolled: readonly RolledEnd[] = [];
  /** The reads that failed when they were last made. */
  private readonly failing = new Set<string>();

  /** `isHolder`: whether this process has the lease now. */
  constructor(
    private readonly db: Database,
    private readonly isHolder: () => boolean,
    private readonly log: Logger,
  ) {}

  start(): void {
    for (const [name, metric] of Object.entries(METRIC_OF) as [keyof Figures, Unlabelled][]) {
      gauge(metric, () => {
        const { [name]: value } = this.figures;
        return typeof value === 'number' && this.isHolder() ? [{ value, labels: {} }] : [];
      });
    }
    gauge('payments_incidents_open', () => this.byKind(INCIDENT_KINDS, this.incidents));
    gauge('payments_attentions_open', () => this.byKind(ATTENTION_KINDS, this.attentions));
    gauge('payments_rolled_secret_expiry_timestamp_seconds', () =>
      this.isHolder() ? this.rolled.map(({ kind, ends_at }) => ({ value: ends_at, labels: { kind } })) : [],
    );
    this.loop.start();
  }

  /** Resolves when the current read has ended. */
  async stop(): Promise<void> {
    await this.loop.stop();
  }

  /** The counts of a gauge, 0 for a kind that has none. */
  private byKind<Kind extends string>(kinds: readonly Kind[], counts: Counts<Kind> | undefined) {
    if (counts === undefined || !this.isHolder()) return [];
    const of_kind = new Map(counts.map(({ kind, count }) => [kind, count]));
    return kinds.map((kind) => ({ value: of_kind.get(kind) ?? 0, labels: { kind } }));
  }

  /** Reads all of them once. Returns the pause until the next read in milliseconds. */
  async round(): Promise<number> {
    this.figures = (await this.readIfHolder('work that waits', findFigures)) ?? {};
    this.incidents = await this.readIfHolder('incidents', countOpenIncidents);
    this.attentions = await this.readIfHolder('attentions', countOpenAttentions);
    this.rolled = (await this.readIfHolder('rolled keys and secrets', findRolledEnds)) ?? [];
    return EVERY_MS;
  }

  /** `undefined` without the lease, and when the read fails. */
  private async readIfHolder<T>(figures: string, read: (db: Database) => Promise<T>): Promise<T | undefined> {
    if (!this.isHolder()) return undefined;
    try {
      const found = await read(this.db);
      if (this.failing.delete(figures)) this.log.info({ figures }, 'figures for the metrics can be read again');
      return found;
    } catch (err) {
      if (!this.failing.has(figures)) this.log.warn({ err, figures }, 'figures for the metrics could not be read');
      this.failing.add(figures);
      return undefined;
    }
  }
}
