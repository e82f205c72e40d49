import {
  DELIVERY_STATUSES,
  ORDER_STATUSES,
  PAYMENT_LINK_STATUSES,
  PROJECT_STATUSES,
  TRANSACTION_STATUSES,
} from '../../src/domain/transitions';
import { files, text } from './repository';

/** Whose moves the status column of a table follows; a new table with statuses gets its line here. */
const STATUSES: Record<string, readonly string[]> = {
  orders: ORDER_STATUSES,
  transactions: TRANSACTION_STATUSES,
  payment_links: PAYMENT_LINK_STATUSES,
  webhook_deliveries: DELIVERY_STATUSES,
  projects: PROJECT_STATUSES,
};

/**
 * The list of statuses each table allows after the newest migration. Migrations freeze theirs, so the last one counts.
 */
function statusChecks(): Record<string, string[]> {
  const checks: Record<string, string[]> = {};
  const migrations = files()
    .filter((file) => /^src\/db\/migrations\/\d.*\.ts$/.test(file))
    .toSorted();
  for (const file of migrations) {
    for (const [, table, body] of text(file).matchAll(
      /\b(?:create|alter) table (?:if (?:not )?exists )?"?(\w+)"?([^;]*)/gi,
    )) {
      for (const [, list] of body!.matchAll(/check \(\s*status in \(([^)]*)\)\s*\)/gi)) {
        checks[table!] = [...list!.matchAll(/'([^']*)'/g)].map(([, status]) => status!);
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

it('migrations are numbered without a gap and listed once each', () => {
  const names = files()
    .flatMap((file) => /^src\/db\/migrations\/(.*)\.ts$/.exec(file)?.slice(1) ?? [])
    .toSorted();
  expect(names.map((name) => Number(name.slice(0, 3)))).toEqual(names.map((_, index) => index + 1));
  for (const name of names) expect(text('src/db/migrate.ts').split(`'${name}':`)).toHaveLength(2);
});
