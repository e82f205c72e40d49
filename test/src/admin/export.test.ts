import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { exportMonth } from '../../../src/admin/export';
import { recordChange } from '../../../src/db/projects/audit-trail';
import { createTestDatabase } from '../../support/database';
import { MINUTE, NOW } from '../../support/domain';
import { aStoredOrder, anAcceptedPayment } from '../../support/rows';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase());
const folder = mkdtempSync(path.join(tmpdir(), 'payments-export-'));
afterAll(() => rmSync(folder, { recursive: true }));

const MONTH = new Date(NOW).toISOString().slice(0, 7);
const [year, month] = [new Date(NOW).getUTCFullYear(), new Date(NOW).getUTCMonth()];
/** The first instant after the month, and the last before it. */
const [AFTER, BEFORE] = [new Date(Date.UTC(year, month + 1)), new Date(Date.UTC(year, month) - 1)];
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
    const files = await exportMonth(database.db, MONTH, folder, AFTER.getTime());
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
  await expect(exportMonth(database.db, MONTH, folder, now)).rejects.toMatchObject({ error: 'ValidationError' });
});
