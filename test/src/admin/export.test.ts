import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import type { ManageContext } from '../../../api/manage/manager';
import { EXPORT_COMMANDS, exportMonth, removeMonth } from '../../../src/admin/export';
import type { Config } from '../../../src/config';
import { recordAttention } from '../../../src/db/recovery/attentions';
import { connectDatabase } from '../../../src/db/connection';
import { queryRows } from '../../../src/db/query';
import { releaseLease, takeLease } from '../../../src/db/lease';
import { insertFollowUp } from '../../../src/db/orders/follow-ups';
import { applyRetention } from '../../../src/db/retention/retention';
import { recordChange } from '../../../src/db/projects/audit-trail';
import { upsertProject } from '../../../src/db/projects/projects';
import { grantToService } from '../../../src/db/service-role';
import { RETENTION_DAYS } from '../../../src/domain/retention';
import { createTestDatabase, secrets } from '../../support/database';
import { MINUTE, NOW, PROJECT } from '../../support/domain';
import { aFollowUp, aStoredOrder, anAcceptedPayment, answerFollowUp } from '../../support/rows';
import { setUp } from '../../support/set-up';
import { NOBODY } from '../../support/shapes';

const database = setUp(() => createTestDatabase());
const folder = mkdtempSync(path.join(tmpdir(), 'payments-export-'));
afterAll(() => rmSync(folder, { recursive: true }));

const MONTH = new Date(NOW).toISOString().slice(0, 7);
const [year, month] = [new Date(NOW).getUTCFullYear(), new Date(NOW).getUTCMonth()];
/** The first instant after the month, and the last before it. */
const [AFTER, BEFORE] = [new Date(Date.UTC(year, month + 1)), new Date(Date.UTC(year, month) - 1)];
/** As if no other command could write files. */
const requireLease = () => Promise.resolve();
const AUTHOR = { caller: { actor: { kind: 'command_line', id: 'ada' } }, request: { request_id: NOBODY } } as const;
const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');

test('rules 29.7: the files of a month have its orders, events and entries, no customer, and right sums', async () => {
  const paid = await anAcceptedPayment(database.db);
  await database
    .db('orders')
    .where({ id: paid.id })
    .update({ customer: { email_address: 'ada@shop.example' } });
  for (const created of [AFTER, BEFORE]) {
    const { id } = await aStoredOrder(database.db);
    await database.db('orders').where({ id }).update({ created });
  }
  for (const [n, at] of [BEFORE, new Date(NOW), AFTER].entries()) {
    const change = { action: `test.${n}`, object: { kind: 'test', id: String(n) } };
    await database.db.transaction((trx) => recordChange(trx, change, { actor: { kind: 'client', id: 'x' } }, at));
  }
  for (let time = 0; time < 2; time += 1) {
    const files = await exportMonth(database.db, MONTH, folder, AFTER.getTime(), { author: AUTHOR, requireLease });
    const [orders, events, trail] = [`orders-${MONTH}.csv`, `events-${MONTH}.jsonl`, `audit-trail-${MONTH}.jsonl`];
    expect(files.map(({ name, rows }) => [name, rows])).toEqual([
      [orders, 1],
      [events, 2],
      [trail, 1],
    ]);
    expect(readdirSync(folder).toSorted()).toEqual([`SHA256SUMS-${MONTH}`, trail, events, orders].toSorted());
    const [header, row] = read(orders).split('\r\n');
    expect([header!.split(',')[0], row!.split(',')[0]]).toEqual(['id', paid.id]);
    expect(read(orders)).not.toContain('ada@shop.example');
    const told = read(events)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; order_id: string });
    expect(told.map(({ event, order_id }) => [event, order_id])).toEqual(['new', 'accepted'].map((e) => [e, paid.id]));
    expect(JSON.parse(read(trail))).toMatchObject({ action: 'test.1' });
    for (const { name, sha256 } of files) {
      expect(createHash('sha256').update(read(name)).digest('hex')).toBe(sha256);
      expect(read(`SHA256SUMS-${MONTH}`)).toContain(`${sha256}  ${name}\n`);
      expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o600);
    }
  }
});

test('rules 29.7: a month that is not over is refused', async () => {
  const now = AFTER.getTime() - MINUTE;
  await expect(exportMonth(database.db, MONTH, folder, now, { author: AUTHOR, requireLease })).rejects.toMatchObject({
    error: 'ValidationError',
  });
});

describe('rules 29.8: a month is removed with its files', () => {
  /** Seven years after the end of the month. */
  const DUE = Date.UTC(year + 7, month + 1);
  const NEXT = new Date(AFTER).toISOString().slice(0, 7);
  const remove = (name: string, { of = MONTH, now = DUE, db = database.db, lease = requireLease } = {}) =>
    removeMonth(db, of, path.join(folder, name), now, { years: 7, author: AUTHOR, requireLease: lease });
  const filesOf = async (name: string, options?: Parameters<typeof remove>[1]) => {
    const { files, ...counts } = await remove(name, options);
    return { rows: files.map(({ rows }) => rows), ...counts };
  };
  /** A paid order whose webhook was delivered. */
  const aClosedPayment = async () => {
    const payment = await anAcceptedPayment(database.db);
    const closed = { status: 'delivered', next_attempt_at: null };
    await database.db('webhook_deliveries').where({ order_id: payment.id }).update(closed);
    return payment;
  };
  /** A refund of all of it, that was carried out at an instant, epoch milliseconds. Its id. */
  const refund = async (payment: Awaited<ReturnType<typeof aClosedPayment>>, now: number) => {
    const follow_up = aFollowUp(payment, { kind: 'refund', now });
    const asked = await insertFollowUp(database.db, follow_up);
    await answerFollowUp(database.db, follow_up, asked, 'approved', now);
    const closed = { status: 'delivered', next_attempt_at: null };
    await database.db('webhook_deliveries').where({ order_id: follow_up.id }).update(closed);
    return follow_up.id;
  };
  /** The tables that have the text anywhere. */
  const tablesWith = async (text: string) => {
    const tables = await queryRows<{ name: string }>(
      database.db,
      "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
    );
    const found = await Promise.all(
      tables.map(async ({ name }) => {
        const rows = await queryRows(database.db, `select from "${name}" t where cast(t as text) like :text limit 1`, {
          text: `%${text}%`,
        });
        return rows.length > 0 ? [name] : [];
      }),
    );
    return found.flat();
  };

  test('orders with what follows them go; what is open, needs an operator or goes on in a later month stays', async () => {
    await database.db('webhook_deliveries').update({ status: 'delivered', next_attempt_at: null });
    await database
      .db('orders')
      .where('created', '<', BEFORE)
      .orWhere({ created: BEFORE })
      .update({ created: new Date(0) });
    const refunded = await aClosedPayment();
    const refund_id = await refund(refunded, NOW);
    // Its first webhook failed, and no later one was delivered.
    await recordAttention(database.db, { kind: 'webhook', id: `${refund_id}-1` }, 'webhook failed 10 times');
    const later = await aClosedPayment();
    const later_refund_id = await refund(later, AFTER.getTime() + MINUTE);
    const open = await aStoredOrder(database.db);
    const attended = await aClosedPayment();
    await database.db('orders').where({ id: attended.id }).update({ attention: 'look' });
    const unsent = await anAcceptedPayment(database.db);
    await database.db('idempotency_keys').insert({
      owner_id: NOBODY,
      key: 'kept',
      request_hash: Buffer.alloc(32),
      created: new Date(DUE),
      status: 200,
      body: { customer: { last_name: 'Ring-Kept' } },
      object_id: refund_id,
    });
    await expect(remove('early', { now: DUE - MINUTE })).rejects.toMatchObject({ error: 'ValidationError' });
    expect(readdirSync(folder)).not.toContain('early');

    await applyRetention(database.db, RETENTION_DAYS, DUE);
    const { removed, orders_kept, rows } = await filesOf('first');
    // The first test's payment is of this month too.
    expect([rows[0], removed, orders_kept]).toEqual([7, { orders: 3, audit_entries: 1 }, 4]);
    for (const id of [refunded.id, refunded.transactions[0]!.id, refund_id]) {
      expect(read(path.join('first', `orders-${MONTH}.csv`))).toContain(id);
    }
    expect(await tablesWith(refunded.id)).toEqual(['search_outbox']);
    expect((await tablesWith(refund_id)).toSorted()).toEqual(['idempotency_keys', 'search_outbox']);
    expect(await tablesWith('Ring-Kept')).toEqual([]);
    expect(await tablesWith(refunded.transactions[0]!.id)).toEqual([]);
    const kept = [later.id, later_refund_id, open.id, attended.id, unsent.id];
    expect(await database.db('orders').whereIn('id', kept).pluck('id')).toHaveLength(kept.length);
    await expect(database.db('audit_trail').delete()).rejects.toThrow('append-only');

    await expect(remove('first')).rejects.toMatchObject({ error: 'ValidationError' });
    const again = (name: string) =>
      exportMonth(database.db, MONTH, path.join(folder, name), DUE, { author: AUTHOR, requireLease });
    await expect(again('first')).rejects.toMatchObject({ error: 'ValidationError' });
    expect(read(path.join('first', `orders-${MONTH}.csv`))).toContain(refunded.id);
    await again('elsewhere');
    expect(await filesOf('second')).toEqual({
      rows: [4, expect.any(Number), 0],
      removed: { orders: 0, audit_entries: 0 },
      orders_kept: 4,
    });

    // The next month has the refund of an order of this one, whose files hold the order as it is now.
    const next = { of: NEXT, now: Date.UTC(year + 7, month + 2) };
    await database
      .db('orders')
      .where({ id: later.id })
      .update({ modified: new Date(DUE + MINUTE) });
    expect((await filesOf('changed', next)).removed.orders).toBe(0);
    await filesOf('third', { now: DUE + 2 * MINUTE });
    expect((await filesOf('fourth', next)).removed.orders).toBe(2);
    expect(await tablesWith(later.id)).toEqual(['search_outbox']);
  });

  test('what an interrupted removal removed is in the audit trail, as its beginning is', async () => {
    const payments = [await aClosedPayment(), await aClosedPayment()];
    const ids = payments.map(({ id }) => id);
    const other = uuidv7();
    const project = { id: other, name: 'Other', is_test: true, payment_methods: [], currencies: ['EUR'] };
    await upsertProject({ db: database.db, secrets }, PROJECT.merchant_id, project, new Date(0));
    await database.db('orders').where({ id: ids[1] }).update({ project_id: other });
    const left = async () => (await database.db('orders').whereIn('id', ids)).length;
    const lost = async () => {
      if ((await left()) === 1) throw new Error('another command may write the files too');
    };
    await expect(remove('lost', { lease: lost })).rejects.toThrow('another command');
    expect(await left()).toBe(1);
    const entries = () => database.db('audit_trail').where({ action: 'export.remove' }).orderBy('n').pluck('after');
    const removed = { orders: 1, audit_entries: 0 };
    expect((await entries()).slice(-2)).toEqual([{ state: 'begun' }, { state: 'interrupted', removed }]);
    // A repeat removes the rest.
    const rest = await remove('rest');
    expect(await left()).toBe(0);
    const ended = { state: 'ended', removed: rest.removed, orders_kept: rest.orders_kept };
    expect((await entries()).slice(-2)).toEqual([{ state: 'begun' }, ended]);
  });

  test('a folder with a file of an interrupted export of the month is refused, and nothing is written or removed', async () => {
    const [name, part] = ['interrupted', `orders-${MONTH}.csv.${NOBODY}.part`];
    mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, name, part), '');
    await expect(remove(name)).rejects.toMatchObject({ error: 'ValidationError', fields: [{ path: 'directory' }] });
    expect(readdirSync(path.join(folder, name))).toEqual([part]);
    // Of another month it says nothing.
    renameSync(path.join(folder, name, part), path.join(folder, name, part.replace(MONTH, NEXT)));
    expect((await remove(name)).files).toHaveLength(3);
  });

  test.each(['POSTGRES_OWNER_URL', 'POSTGRES_URL with POSTGRES_PASSWORD_FILE'])(
    'rules 1.5, 29.7: in UTC, whatever the time zone of the session; connected by %s',
    async (how) => {
      const at = new Date('2019-07-10T12:00:00Z');
      const { id } = await aStoredOrder(database.db);
      await database.db('orders').where({ id }).update({ created: at, modified: at });
      const url = new URL(database.url);
      url.searchParams.set('options', '-c TimeZone=Europe/Berlin');
      const POSTGRES_OWNER_URL = url.href;
      const POSTGRES_PASSWORD_FILE = path.join(folder, 'password');
      writeFileSync(POSTGRES_PASSWORD_FILE, `${decodeURIComponent(url.password)}\n`);
      const POSTGRES_URL = Object.assign(url, { password: '' }).href;
      const given =
        how === 'POSTGRES_OWNER_URL' ? { POSTGRES_OWNER_URL, POSTGRES_URL } : { POSTGRES_URL, POSTGRES_PASSWORD_FILE };
      const config = { ...given, RETENTION_ORDERS_YEARS: 1 } as unknown as Config;
      const directory = path.join(folder, how);
      const { run } = EXPORT_COMMANDS.find(({ verb }) => verb === 'remove')!;
      await run({ config, db: database.db }, AUTHOR as unknown as ManageContext, {
        params: { month: '2019-07' },
        body: { directory },
      });
      const rows = read(path.join(how, 'orders-2019-07.csv')).split('\r\n');
      expect(rows.find((row) => row.startsWith(id))).toContain('2019-07-10T12:00:00.000000+00:00');
      for (const event of read(path.join(how, 'events-2019-07.jsonl')).trimEnd().split('\n')) {
        expect(JSON.parse(event)).toMatchObject({ occurred: new Date(NOW).toISOString().replace('.000Z', '+00:00') });
      }
    },
  );

  test.each(['month', 'remove'] as const)('rules 29.7: export %s is refused while another one runs', async (name) => {
    await takeLease(database.db, { name: 'export', holder: 'another', lasts_ms: MINUTE });
    const { run } = EXPORT_COMMANDS.find(({ verb }) => verb === name)!;
    const config = { POSTGRES_URL: database.url, RETENTION_ORDERS_YEARS: 1 } as unknown as Config;
    const input = { params: { month: '2019-07' }, body: { directory: path.join(folder, 'at-once') } };
    const command = run({ config, db: database.db }, AUTHOR as unknown as ManageContext, input);
    await expect(command).rejects.toMatchObject({ error: 'Conflict' });
    expect(readdirSync(folder)).not.toContain('at-once');
    await releaseLease(database.db, { name: 'export', holder: 'another' });
  });

  test('only the owner of the schema can; nothing is written for another role', async () => {
    const role = `service_${NOBODY.slice(0, 8)}_${process.pid}`;
    await grantToService(database.db, { role, password: 'secret' });
    const service = connectDatabase(
      Object.assign(new URL(database.url), { username: role, password: 'secret' }).toString(),
    );
    try {
      await expect(remove('service', { db: service })).rejects.toMatchObject({ error: 'Forbidden' });
      expect(readdirSync(folder)).not.toContain('service');
    } finally {
      await service.destroy();
      await database.db.raw('drop owned by ??', [role]);
      await database.db.raw('drop role ??', [role]);
    }
  });
});
