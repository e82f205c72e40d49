import { v7 as uuidv7 } from 'uuid';
import {
  beginReceiverCheck,
  completeReceiverCheck,
  findReceiverCheck,
} from '../../../../src/db/webhooks/receiver-checks';
import { removeOld } from '../../../../src/db/retention/retention';
import { RECEIVER_CHECK_LOST_AFTER_MS } from '../../../../src/domain/receiver-check';
import { createTestDatabase } from '../../../support/database';
import { NOW, PROJECT } from '../../../support/domain';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());
const begin = async (now: number, id = uuidv7()) =>
  await database.db.transaction((trx) =>
    beginReceiverCheck(trx, { id, project_id: PROJECT.id, webhook_url: 'https://shop.example.com/' }, now),
  );

test('rules 27.1 and 27.8: one check runs at a time; one that was lost is stopped by the next', async () => {
  const first = (await begin(NOW))!;
  expect(await begin(NOW, first.id)).toEqual(first);
  expect(await begin(NOW + RECEIVER_CHECK_LOST_AFTER_MS)).toBeUndefined();
  const second = (await begin(NOW + RECEIVER_CHECK_LOST_AFTER_MS + 1))!;
  expect(await findReceiverCheck(database.db, first.id)).toMatchObject({
    reason: 'It did not finish: its workflow was lost. Start another check.',
  });
  // Its workflow comes back.
  await completeReceiverCheck(database.db, { id: first.id, cases: [], now: NOW });
  expect(await findReceiverCheck(database.db, first.id)).toMatchObject({ cases: null });
  await completeReceiverCheck(database.db, { id: second.id, cases: [], now: NOW });
  expect(await findReceiverCheck(database.db, second.id)).toMatchObject({ cases: [], reason: null });
  expect(await begin(NOW)).toBeDefined();
});

test('rules 27.10: checks that were created before an instant are deleted', async () => {
  const [kept] = [(await begin(NOW + 10 * RECEIVER_CHECK_LOST_AFTER_MS))!];
  await removeOld(database.db, 'receiver_checks', Date.parse(kept.created));
  const rows = await database.db('receiver_checks').select('id');
  expect(rows).toEqual([{ id: kept.id }]);
});
