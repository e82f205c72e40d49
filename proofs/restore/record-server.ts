import { appendFileSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withDatabase } from '../../src/db/connection';
import { queryRows } from '../../src/db/query';
import { keepRunning, type Kept, type Program } from '../../src/stack/programs/program';
import { freePort } from '../../src/stack/ports';
import { silent } from '../../src/stack/progress';
import { preparePostgres } from '../../src/stack/servers/postgres';
import { removeData } from '../../src/stack/launch';
import { serverFolder } from '../../test/support/stack';
import { until } from '../../test/support/waits';

const PASSWORD = 'of-this-proof';

/** A PostgreSQL of a proof's own, which archives its WAL and can be restored to a point in time. */
export class RecordServer {
  private readonly folder: string;
  private program!: Program;
  private kept: Kept | undefined;
  private port = 0;

  constructor(name: string) {
    this.folder = serverFolder(name);
  }

  /** The address of one of its databases, as superuser. */
  url(database: string): string {
    return `postgres://postgres:${PASSWORD}@127.0.0.1:${this.port}/${database}`;
  }

  /** Folder of the archived log or of the backup. */
  place(name: 'archive' | 'backup'): string {
    return path.join(this.program.cwd, '..', name);
  }

  async start(): Promise<void> {
    this.port = await freePort();
    const log_file = path.join(this.folder, 'postgres.log');
    const server = { data_dir: this.folder, log_file, port: this.port, password: PASSWORD };
    this.program = await preparePostgres(server, silent);
    mkdirSync(this.place('archive'));
    this.own(this.place('archive'));
    const command = `cp %p ${path.join(this.place('archive'), '%f')}`;
    appendFileSync(
      path.join(this.program.cwd, 'postgresql.conf'),
      `\narchive_mode = on\narchive_command = '${command}'\n`,
    );
    await this.run();
  }

  /** Copies its data while it runs: the backup that a restore begins with. */
  async backUp(): Promise<void> {
    await withDatabase(this.url('postgres'), async (db) => {
      await queryRows(db, `select pg_backup_start('proof', true)`);
      const skipped = /(^|\/)(postmaster\.(pid|opts)|pg_wal\/.+)$/;
      const { cwd } = this.program;
      cpSync(cwd, this.place('backup'), {
        recursive: true,
        filter: (file) => existsSync(file) && !skipped.test(path.relative(cwd, file)),
      });
      const [stop] = await queryRows<{ labelfile: string }>(db, 'select labelfile from pg_backup_stop()');
      writeFileSync(path.join(this.place('backup'), 'backup_label'), stop!.labelfile);
      this.own(this.place('backup'));
    });
  }

  /** Archives all that was committed. Returns the name of the last file. */
  async archive(): Promise<string> {
    return await withDatabase(this.url('postgres'), async (db) => {
      const [wal] = await queryRows<{ file: string }>(
        db,
        'select pg_walfile_name(pg_current_wal_lsn()) as file, pg_switch_wal()',
      );
      await until(`${wal!.file} is archived`, async () => {
        const [last] = await queryRows<{ wal: string }>(
          db,
          'select last_archived_wal as wal from pg_stat_archiver where last_archived_wal >= :file',
          wal!,
        );
        return last?.wal;
      });
      return wal!.file;
    });
  }

  /** Stops it, and starts it again as it was at an instant, epoch milliseconds. */
  async restoreTo(instant: number): Promise<void> {
    await this.kept?.stop();
    const { cwd } = this.program;
    for (const name of readdirSync(cwd)) rmSync(path.join(cwd, name), { recursive: true });
    cpSync(this.place('backup'), cwd, { recursive: true });
    appendFileSync(
      path.join(cwd, 'postgresql.conf'),
      [
        `restore_command = 'cp ${path.join(this.place('archive'), '%f')} %p'`,
        // PostgreSQL refuses the T and Z of ISO 8601 here.
        `recovery_target_time = '${new Date(instant).toISOString().replace('T', ' ').replace('Z', '+00')}'`,
        `recovery_target_action = 'promote'\n`,
      ].join('\n'),
    );
    writeFileSync(path.join(cwd, 'recovery.signal'), '');
    this.own(cwd);
    await this.run();
    await withDatabase(this.url('postgres'), async (db) => {
      await until('the restored record takes writes', async () => {
        const asked = queryRows<{ standby: boolean }>(db, 'select pg_is_in_recovery() as standby');
        return (await asked.catch(() => [{ standby: true }]))[0]?.standby === false;
      });
    });
  }

  async discard(): Promise<void> {
    await this.kept?.stop();
    removeData(this.folder);
  }

  private async run(): Promise<void> {
    this.kept = keepRunning(this.program, { started: () => undefined, ended: () => undefined });
    await this.kept.ready;
  }

  /** Gives a folder and all in it to the user of the server. */
  private own(folder: string): void {
    const { user } = this.program;
    if (user === undefined) return;
    chownSync(folder, user.uid, user.gid);
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      chownSync(path.join(folder, name), user.uid, user.gid);
    }
  }
}
