import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  DELIVERY_STATUSES,
  OPEN_DELIVERY_STATUSES,
  OPEN_ORDER_STATUSES,
  OPEN_PAYMENT_LINK_STATUSES,
  OPEN_WEBHOOK_RECOVERY_STATUSES,
  ORDER_STATUSES,
  PAYMENT_LINK_STATUSES,
  PROJECT_STATUSES,
  TRANSACTION_STATUSES,
  UNPAID_ATTEMPT_STATUSES,
  WEBHOOK_RECOVERY_STATUSES,
} from '../../src/domain/transitions';
import { ROOT, files, textOfFile } from './repository';

/** Whose moves the status column of a table follows; a new table with statuses gets its line here. */
const STATUSES: Record<string, readonly string[]> = {
  orders: ORDER_STATUSES,
  transactions: TRANSACTION_STATUSES,
  payment_links: PAYMENT_LINK_STATUSES,
  webhook_deliveries: DELIVERY_STATUSES,
  projects: PROJECT_STATUSES,
  webhook_recoveries: WEBHOOK_RECOVERY_STATUSES,
};

const migrations = () =>
  files()
    .filter((file) => /^src\/db\/migrations\/\d.*\.ts$/.test(file))
    .toSorted();

/**
 * The list of statuses each table allows after the newest migration. Migrations freeze theirs, so the last one counts.
 */
function statusChecks(): Record<string, string[]> {
  const checks: Record<string, string[]> = {};
  for (const file of migrations()) {
    for (const [, table, body] of textOfFile(file).matchAll(
      /\b(?:create|alter) table (?:if (?:not )?exists )?"?(\w+)"?([^;]*)/gi,
    )) {
      for (const [, list] of body!.matchAll(/check \(\s*status in \(([^)]*)\)\s*\)/gi)) {
        checks[table!] = statusesIn(list!);
      }
    }
  }
  return checks;
}

it('every table with a list of statuses follows a table of moves', () => {
  expect(Object.keys(statusChecks()).toSorted()).toEqual(Object.keys(STATUSES).toSorted());
});

it.each(Object.entries(STATUSES))('the statuses of %s are those of its table of moves', (table, statuses) => {
  expect(statusChecks()[table]?.toSorted()).toEqual([...statuses].toSorted());
});

const statusesIn = (list: string) => [...list.matchAll(/'([^']*)'/g)].map(([, status]) => status!);

/** What a list in an index or another check of a table has to equal, for the index to serve the SQL with that list. */
const LISTED: Record<string, readonly string[]> = {
  orders: OPEN_ORDER_STATUSES,
  transactions: UNPAID_ATTEMPT_STATUSES,
  payment_links: OPEN_PAYMENT_LINK_STATUSES,
  webhook_deliveries: OPEN_DELIVERY_STATUSES,
  webhook_recoveries: OPEN_WEBHOOK_RECOVERY_STATUSES,
};

it('every other list of statuses in a migration is one that SQL takes from the tables of moves', () => {
  const lists = migrations().flatMap((file) =>
    textOfFile(file)
      .replaceAll(/--.*$/gm, '')
      .split(';')
      .flatMap((statement) => {
        const [, table] = /(?:\bcreate (?:table|(?:unique )?index \w+ on)|["'`]on) (\w+)/.exec(statement) ?? [];
        const others = statement.replaceAll(/check \(\s*status in \([^)]*\)\s*\)/gi, '');
        return [...others.matchAll(/\bstatus (?:not )?in \(([^)]*)\)/g)].map(
          ([, list]) => [table!, statusesIn(list!)] as const,
        );
      }),
  );
  expect(lists.length).toBeGreaterThan(7);
  for (const [table, list] of lists) expect([table, list]).toEqual([table, LISTED[table]]);
});

/** The tables by their usual names in SQL. */
const ALIASES: Record<string, string> = {
  t: 'transactions',
  last: 'transactions',
  e: 'transactions',
  o: 'orders',
  f: 'orders',
  l: 'payment_links',
  d: 'webhook_deliveries',
  r: 'webhook_deliveries',
};

it('SQL spells out no list of statuses, and no status that its table of moves does not have', () => {
  const sql = files().filter((file) => file.startsWith('src/db/'));
  const compared = sql.flatMap((file) =>
    [...textOfFile(file).matchAll(/(?:\b(\w+)\.)?\b(?:status|event) (?:=|<>) '([^']*)'/g)].map(
      ([, alias = '', status]) => ({
        file,
        status: status!,
        table: ALIASES[alias],
      }),
    ),
  );
  expect(compared.length).toBeGreaterThan(20);
  const unknown = compared.filter(
    ({ status, table }) => !(table === undefined ? Object.values(STATUSES).flat() : STATUSES[table]!).includes(status),
  );
  expect(unknown).toEqual([]);
  const lists = sql.filter((file) => !migrations().includes(file) && /\bstatus (?:not )?in \('/.test(textOfFile(file)));
  expect(lists).toEqual([]);
});

it('migrations are numbered without a gap and listed once each', () => {
  const names = files()
    .flatMap((file) => /^src\/db\/migrations\/(.*)\.ts$/.exec(file)?.slice(1) ?? [])
    .toSorted();
  expect(names.map((name) => Number(name.slice(0, 3)))).toEqual(names.map((_, index) => index + 1));
  for (const name of names) expect(textOfFile('src/db/migrate.ts').split(`'${name}':`)).toHaveLength(2);
});

/** Each would stop payments, or break the processes of the release before. */
const REFUSED_SQL: [rule: string, sql: string][] = [
  ['require-concurrent-index-creation', 'create index orders_amount on orders (amount)'],
  ['adding-required-field', 'alter table orders add column channel text not null'],
  ['adding-not-nullable-field', 'alter table orders alter column locale set not null'],
  ['constraint-missing-not-valid', 'alter table orders add constraint a check (amount > 0)'],
  ['adding-foreign-key-constraint', 'alter table orders add foreign key (clock_id) references sandbox_clocks'],
  ['changing-column-type', 'alter table orders alter column amount type numeric'],
  ['renaming-column', 'alter table orders rename column locale to language'],
  ['renaming-table', 'alter table orders rename to payments'],
  ['ban-drop-column', 'alter table orders drop column locale'],
  ['ban-drop-table', 'drop table leases'],
];

it('npm run check refuses SQL of a migration that locks a table for long, or breaks the release before', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'migrations-'));
  try {
    REFUSED_SQL.forEach(([rule, sql], n) => {
      const name = `${String(n + 100)}-${rule}.js`;
      writeFileSync(path.join(folder, name), `exports.up = (knex) => knex.raw(${JSON.stringify(sql)});`);
    });
    const check = spawnSync(process.execPath, [path.join(ROOT, '.ci/check-migrations.mjs'), folder], {
      encoding: 'utf8',
    });
    expect([check.status, check.stderr]).toEqual([1, '']);
    const refused = REFUSED_SQL.filter(([rule]) => check.stdout.includes(`docs/${rule}`)).map(([rule]) => rule);
    expect(refused).toEqual(REFUSED_SQL.map(([rule]) => rule));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
