import pino from 'pino';
import { EventWaits } from '../../../api/requests/event-waits';
import { currentPosition } from '../../../src/db/webhooks/events';
import { createTestDatabase } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase());

test('rules 13.20: a cursor that is later than now becomes now, as after a restore from a backup', async () => {
  const waits = new EventWaits(database.db, pino({ enabled: false }));
  const current = await currentPosition(database.db);
  const given = { project_id: PROJECT.id, xid: String(BigInt(current.xid) + 1_000_000n), id: '7' };
  const { position } = await waits.read(undefined, given, 10);
  expect([BigInt(position.xid) >= BigInt(current.xid), BigInt(position.xid) < BigInt(given.xid), position.id]).toEqual([
    true,
    true,
    '0',
  ]);
  await waits.close();
});
