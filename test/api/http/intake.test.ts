import { v7 as uuidv7 } from 'uuid';
import { Intake } from '../../../api/http/intake';
import { queryRows } from '../../../src/db/query';
import { beginRestore } from '../../../src/db/backups/restores';
import { createLogger } from '../../../src/log';
import { createTestDatabase } from '../../support/database';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';

const database = setUp(() => createTestDatabase());

const silent = createLogger({ process: 'test', level: 'silent' });

/** Resolves once requests are accepted. */
const accepts = (intake: Intake) =>
  until('it accepts requests', () => {
    try {
      intake.requireOpen();
      return true;
    } catch {
      return false;
    }
  });

test('rules 28.1: a process that starts accepts nothing before Postgres has said that no restore is under way', async () => {
  const { db } = database;
  await queryRows(db, 'alter table restores rename to restores_away');
  const intake = await Intake.open(db, silent);
  try {
    expect(() => intake.requireOpen()).toThrow('The service is starting.');
    await queryRows(db, 'alter table restores_away rename to restores');
    await accepts(intake);
  } finally {
    intake.close();
  }
});

test('rules 28.1: while a restore is under way nothing is accepted, also when Postgres does not say whether it still is', async () => {
  const { db, statements } = database;
  await db.transaction((trx) => beginRestore(trx, uuidv7(), Date.now(), new Date()));
  const intake = await Intake.open(db, silent);
  try {
    expect(() => intake.requireOpen()).toThrow('The service is being restored.');
    expect(Math.abs(intake.restored_at - Date.now() / 1_000)).toBeLessThan(600);
    const { restored_at } = intake;
    await queryRows(db, 'alter table restores rename to restores_away');
    const looked = statements.length;
    await until('it has looked twice', () => statements.length >= looked + 2);
    expect(() => intake.requireOpen()).toThrow('The service is being restored.');
    await queryRows(db, 'alter table restores_away rename to restores');
    await queryRows(db, 'update restores set ended = now()');
    await accepts(intake);
    // ETags have it also after the restore.
    expect(intake.restored_at).toBe(restored_at);
  } finally {
    intake.close();
  }
});
