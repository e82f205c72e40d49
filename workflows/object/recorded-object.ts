import { allHandlersFinished, condition, makeContinueAsNewFunc, setHandler, workflowInfo } from '@temporalio/workflow';
import { oneAtATime } from '../../src/domain/one-at-a-time';
import { ServiceError, tooLate } from '../../src/errors';
import { clockAdvanced, recordChanged } from '../messages';
import { refusal } from '../refusal';
import { afterEvents } from './activation';
import { ObjectClock } from './clock';
import { Waits } from './wait';

/**
 * Readings that are requested at once count as two at most. Of two requests that a new worker gets together, a replay may
 * get the second while it reads (see activation): both then read twice.
 */
const READINGS_AT_ONCE = { before_one: 2, during_one: 1 };

/** How long a new workflow waits for the request that creates its object: longer than the API waits for the answer. */
const UNTIL_CREATION_IS_LOST = { milliseconds: 15_000, summary: 'until its creation counts as lost' };

/** The fields that the records of all kinds have. */
export interface ObjectRecord {
  /** Grows with every change; absent where only the workflow's own loop reads the record. */
  version?: number;
  /** How far the object's clock is ahead of real time, in milliseconds (rules 23.4). */
  clock_offset_ms: number;
}

/** The name, reader and display of one kind of object. */
export interface ObjectKind<Snapshot> {
  /** As in `The order does not exist.` */
  name: string;
  /** Reads the record; null when there is none, RecordMissing for one that `must_exist`. */
  find: (must_exist: boolean) => Promise<Snapshot | null>;
  /** Shows the record in the Web UI. */
  show: (record: Snapshot) => void;
  /** The record existed when this run began. */
  must_exist?: boolean;
}

/**
 * The object of a workflow: a row in the database, of which the workflow holds the last known record. Activities change
 * the row; a lost workflow restarts from it. Changes run one at a time (`inTurn`), as handlers interleave at every
 * await.
 */
export class RecordedObject<Snapshot extends ObjectRecord> {
  readonly clock = new ObjectClock();
  readonly waits = new Waits(this.clock);
  /** Runs changes of the object one at a time. */
  readonly inTurn = oneAtATime();
  /** The object does not exist, and will not: its creation was refused, failed, or came too late. */
  refused = false;
  /** A request to create the object has arrived. */
  private creationRequested = false;
  private lastRecord: Snapshot | undefined;
  /** Readings of the record that are still to be made. */
  private readings = 0;
  private isReading = false;

  constructor(private readonly kind: ObjectKind<Snapshot>) {}

  /** Sets the handlers of the signals that every kind receives. */
  setSignalHandlers(): void {
    const readAgain = () => this.requestReading();
    setHandler(recordChanged, readAgain, { description: 'The record has changed: read it again.' });
    setHandler(clockAdvanced, readAgain, { description: 'The sandbox clock was advanced: read the record again.' });
  }

  /** The object as last recorded; undefined until it exists. */
  get record(): Snapshot | undefined {
    return this.lastRecord;
  }

  /** The record may be newer than `record`. */
  get recordIsStale(): boolean {
    return this.readings > 0;
  }

  /** The record may have changed: it is to be read again. */
  requestReading(): void {
    const { before_one, during_one } = READINGS_AT_ONCE;
    this.readings = Math.min(this.readings + 1, this.isReading ? during_one : before_one);
  }

  /** The object as recorded. Throws NotFound, the answer of an update, when there is none. */
  requireRecord(): Snapshot {
    if (this.record === undefined) throw refusal(new ServiceError('NotFound', `The ${this.kind.name} does not exist.`));
    return this.record;
  }

  /**
   * Applies the record that an activity returned. An older version does not replace a newer one: the record is read
   * again, as it may be newer by now, or restored from a backup.
   */
  applyRecord(record: Snapshot): void {
    if ((record.version ?? 0) < (this.record?.version ?? 0)) this.requestReading();
    else this.replaceRecord(record);
  }

  /** Reads the record unless this workflow has its latest version. Runs in turn. */
  async readRecord(): Promise<void> {
    const before = this.record;
    if ((before !== undefined && !this.recordIsStale) || this.refused) return;
    const found = await this.reading(() => this.kind.find(before !== undefined || this.kind.must_exist === true));
    // A record applied meanwhile may be newer.
    if (this.record !== before) this.requestReading();
    else if (found === null) this.refused = true;
    // Replaces any version: a restored record has an older one, and an earlier clock.
    else this.replaceRecord(found, { is_read: true });
  }

  /** Makes one of the requested readings, or the only one. */
  protected async reading<Found>(
    read: () => Promise<Found>,
    { serves }: { serves: 'one' | 'all' } = { serves: 'one' },
  ): Promise<Found> {
    this.readings = serves === 'all' ? 0 : Math.max(0, this.readings - 1);
    this.isReading = true;
    try {
      return await read();
    } finally {
      this.isReading = false;
    }
  }

  /** Like readRecord; waits for its turn. */
  async refreshRecord(): Promise<void> {
    await this.inTurn(() => this.readRecord());
  }

  /** Reads the record also when it has not changed: the reading may do what is due. Waits for its turn. */
  async readLatest(): Promise<Snapshot> {
    if (!this.recordIsStale) this.requestReading();
    await this.refreshRecord();
    return this.requireRecord();
  }

  /** Runs an update of the object; waits for its turn, after the signals and timers that came with it. */
  async update<Result>(work: () => Promise<Result>): Promise<Result> {
    await afterEvents();
    return await this.inTurn(work);
  }

  /** Changes the object; waits for its turn. */
  async change(activity: () => Promise<Snapshot>): Promise<void> {
    await this.inTurn(async () => this.applyRecord(await activity()));
  }

  /**
   * Creates the object unless it exists; waits for its turn. Throws ServiceUnavailable once its creation counts as
   * lost.
   */
  async create(write: () => Promise<Snapshot>): Promise<void> {
    this.creationRequested = true;
    await this.inTurn(async () => {
      // As waitForCreation does: in a replay it may read before this request comes.
      if (this.mayBeRecorded) await this.readRecord();
      if (this.record !== undefined) return;
      if (this.refused) throw refusal(tooLate());
      try {
        this.applyRecord(await write());
      } catch (failure) {
        this.refused = true;
        throw failure;
      }
    });
  }

  /**
   * Waits until the object is created. The request usually comes with the start of the workflow; if it was lost, the
   * record is read.
   */
  async waitForCreation(): Promise<void> {
    const isDecided = () => this.record !== undefined || this.refused;
    if (this.creationRequested) return await condition(isDecided);
    if (this.kind.must_exist !== true) {
      await this.waits.pause(UNTIL_CREATION_IS_LOST, () => isDecided() || this.mayBeRecorded);
    }
    if (!isDecided()) await this.refreshRecord();
  }

  /** The workflow was told, by its input or a message, of an object that it has not read yet. */
  protected get mayBeRecorded(): boolean {
    return this.record === undefined && (this.kind.must_exist === true || this.recordIsStale);
  }

  /** Whether the main loop has to look at the object again. */
  hasChangedSince(version: number | undefined): boolean {
    return this.record?.version !== version || this.hasNews;
  }

  /** The record has to be read again, or a new run has to begin. */
  get hasNews(): boolean {
    return this.recordIsStale || this.needsNewRun;
  }

  /** The history is long enough to continue in a new run. */
  get needsNewRun(): boolean {
    return workflowInfo().continueAsNewSuggested;
  }

  /**
   * Continues in a new run once all handlers have finished; `inputOf` makes its input then. `options.upgrade`: the new
   * run begins with the current version of the code, not with that of this run (rules 24.21).
   */
  async continueInNewRun<Input>(inputOf: () => Input, { upgrade = false } = {}): Promise<void> {
    await condition(allHandlersFinished);
    const options = upgrade ? { initialVersioningBehavior: 'AUTO_UPGRADE' as const } : {};
    await makeContinueAsNewFunc<(input: Input) => Promise<unknown>>(options)(inputOf());
  }

  /** Every change goes through here, so that the Web UI shows the object as recorded. */
  private replaceRecord(record: Snapshot, { is_read = false } = {}): void {
    if (is_read) this.clock.setTo(record.clock_offset_ms);
    else this.clock.advanceTo(record.clock_offset_ms);
    this.lastRecord = { ...record, clock_offset_ms: this.clock.offset_ms };
    this.kind.show(record);
  }
}
