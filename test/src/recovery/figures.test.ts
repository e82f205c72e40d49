import type { Database } from '../../../src/db/query';
import type { Logger } from '../../../src/log';
import { FigureReader } from '../../../src/recovery/figures';

test('rules 24.14: figures that cannot be read are logged once, and once they can be read again', async () => {
  let is_away = false;
  const db = { raw: () => (is_away ? Promise.reject(new Error('it took too long')) : Promise.resolve({ rows: [{}] })) };
  const logged: string[] = [];
  const note = ({ err, figures }: { err?: Error; figures: string }, text: string) =>
    void logged.push([figures, text, ...(err === undefined ? [] : [err.message])].join(': '));
  const log = { warn: note, info: note } as unknown as Logger;
  const reader = new FigureReader(db as unknown as Database, () => true, log);
  const roundsWhile = async (away: boolean) => {
    is_away = away;
    await reader.round();
    await reader.round();
    return logged.splice(0);
  };

  expect(await roundsWhile(false)).toEqual([]);
  const [figures, ...others] = await roundsWhile(true);
  expect(figures).toBe('work that waits: figures for the metrics could not be read: it took too long');
  expect(others.map((line) => line.split(':')[0])).toEqual(['incidents', 'attentions', 'rolled keys and secrets']);
  const [again, ...more] = await roundsWhile(false);
  expect([again, more.length]).toEqual(['work that waits: figures for the metrics can be read again', 3]);
});
