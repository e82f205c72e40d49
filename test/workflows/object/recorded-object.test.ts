import { RecordedObject, type ObjectRecord } from '../../../workflows/object/recorded-object';

interface Stored extends ObjectRecord {
  version: number;
}

/** An object without a workflow around, its row, and what the operator was shown. */
function anObject(row: Stored | null) {
  const shown: Stored[] = [];
  const table = { row, reads: 0, onRead: () => {} };
  const object = new RecordedObject<Stored>({
    name: 'thing',
    find: async () => {
      const found = table.row;
      table.reads += 1;
      await Promise.resolve();
      table.onRead();
      return found;
    },
    show: (record) => shown.push(record),
  });
  return { object, table, shown };
}
const at = (version: number, clock_offset_ms = 0): Stored => ({ version, clock_offset_ms });

test('an older answer never replaces a newer record: the record is read again', async () => {
  const { object, table, shown } = anObject(at(3));
  object.applyRecord(at(3));
  object.applyRecord(at(2));
  expect([object.record, object.recordIsStale, shown]).toEqual([at(3), true, [at(3)]]);
  await object.refreshRecord();
  expect([object.record, object.recordIsStale, table.reads]).toEqual([at(3), false, 1]);
});

test('rules 28.4: a record that was restored from a backup is older, and counts with its clock once it is read', async () => {
  const { object } = anObject(at(1, 1_000));
  object.applyRecord(at(5, 3_000));
  object.applyRecord(at(1, 1_000));
  expect([object.record, object.clock.offset_ms]).toEqual([at(5, 3_000), 3_000]);
  await object.refreshRecord();
  expect([object.record, object.clock.offset_ms]).toEqual([at(1, 1_000), 1_000]);
});

test('a record that was read before a change was applied does not replace it, and is read again', async () => {
  const { object, table } = anObject(at(1));
  object.applyRecord(at(1));
  object.requestReading();
  table.onRead = () => object.applyRecord(at(2));
  await object.refreshRecord();
  expect([object.record, object.recordIsStale]).toEqual([at(2), true]);
});

test('it is read twice for requests that come together, as for one that comes while it is read', async () => {
  const requests = async (before: number, during: number) => {
    const { object, table } = anObject(at(1));
    object.applyRecord(at(1));
    for (let n = 0; n < before; n += 1) object.requestReading();
    table.onRead = () => {
      if (table.reads === 1) for (let n = 0; n < during; n += 1) object.requestReading();
    };
    while (object.recordIsStale) await object.refreshRecord();
    return table.reads;
  };
  expect(await Promise.all([requests(1, 0), requests(1, 1), requests(2, 0)])).toEqual([1, 2, 2]);
  expect(await Promise.all([requests(1, 5), requests(6, 0), requests(3, 3)])).toEqual([2, 2, 2]);
});

test('a record that is read again while it is read is read once more, however often that was requested', async () => {
  const { object, table } = anObject(at(1, 1_000));
  table.onRead = () => {
    if (table.reads === 1) object.requestReading();
  };
  await Promise.all(Array.from({ length: 5_000 }, () => object.refreshRecord()));
  expect([table.reads, object.clock.offset_ms]).toEqual([2, 1_000]);
});

test('the clock of the record never goes back', () => {
  const { object } = anObject(null);
  object.applyRecord(at(1, 5_000));
  object.applyRecord(at(2, 3_000));
  expect([object.clock.offset_ms, object.record]).toEqual([5_000, at(2, 5_000)]);
});

test('changes run one at a time, each from the record that the one before has left', async () => {
  const { object } = anObject(null);
  const change = () =>
    object.change(async () => {
      const { version } = object.record ?? at(0);
      await Promise.resolve();
      return at(version + 1);
    });
  await Promise.all([change(), change(), change()]);
  expect(object.record).toEqual(at(3));
});

test.each<[string, boolean]>([
  ['the creation counts as lost first: it is refused, and nothing is written', false],
  ['the creation begins first: the reading finds it', true],
])('%s', async (_title, creation_first) => {
  const { object, table } = anObject(null);
  const create = () => object.create(async () => (table.row = at(0)));
  const read = () => object.refreshRecord();
  const [creation] = creation_first ? [create(), read()] : [read(), create()].reverse();
  const [created] = await Promise.allSettled([creation]);
  await read();
  expect(created).toMatchObject(
    creation_first ? { status: 'fulfilled' } : { status: 'rejected', reason: { type: 'ServiceUnavailable' } },
  );
  expect([table.row, object.record, object.refused]).toEqual(
    creation_first ? [at(0), at(0), false] : [null, undefined, true],
  );
});

test('a creation whose workflow was told of the object reads it first, and writes nothing if it is there', async () => {
  const { object, table } = anObject(at(2));
  let writes = 0;
  object.requestReading();
  await object.create(async () => ((writes += 1), at(0)));
  expect([object.record, table.reads, writes]).toEqual([at(2), 1, 0]);
});

test('what needs the object finds none: NotFound', async () => {
  const { object } = anObject(null);
  await object.refreshRecord();
  expect(() => object.requireRecord()).toThrow('The thing does not exist.');
});
