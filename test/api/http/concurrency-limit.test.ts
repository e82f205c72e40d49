import { ConcurrencyLimit } from '../../../api/http/concurrency-limit';

const limitOf = (running: number, per_caller = { running: 1, waiting: 1 }) =>
  new ConcurrencyLimit({ what: 'searches', per_caller, running });

const LISTS = { what: 'lists', per_caller: { running: 2, waiting: 9 } };

/** Notes the names of what has begun. */
function begun() {
  const names: string[] = [];
  return { names, note: (name: string) => () => names.push(name) };
}

describe('rules 18.7: work of one kind runs a few at a time', () => {
  it('lets work of a caller wait for the one before, and begins it when that has ended', async () => {
    const limit = limitOf(10);
    const { names, note } = begun();
    const release = await limit.acquire('a');
    const second = limit.acquire('a').then(note('second'));
    await Promise.resolve();
    expect(names).toEqual([]);
    release();
    await second;
    expect(names).toEqual(['second']);
  });

  it('refuses what is beyond the places to wait, and the caller may send it again later', async () => {
    const limit = limitOf(10);
    const release = await limit.acquire('a');
    const waiting = limit.acquire('a');
    await expect(limit.acquire('a')).rejects.toMatchObject({ error: 'TooManyRequests' });
    const continued = limit.acquire('a', undefined, Infinity);
    release();
    (await waiting)();
    (await continued)();
    (await limit.acquire('a'))();
  });

  it('lets other callers begin at once', async () => {
    const limit = limitOf(10);
    await limit.acquire('a');
    void limit.acquire('a');
    await expect(limit.acquire('b')).resolves.toBeDefined();
  });

  it('gives a free place of the process to the caller that has waited longest since its last work', async () => {
    const limit = limitOf(1, { running: 1, waiting: 9 });
    const { names, note } = begun();
    const release = await limit.acquire('a');
    const rest = [
      ...['a', 'a', 'a', 'b'].map((caller) =>
        limit.acquire(caller).then((end) => {
          note(caller)();
          end();
        }),
      ),
    ];
    release();
    await Promise.all(rest);
    expect(names).toEqual(['b', 'a', 'a', 'a']);
  });

  it('frees the place once, also when it is released twice, and when the work fails', async () => {
    const limit = limitOf(1);
    const release = await limit.acquire('a');
    release();
    release();
    await expect(limit.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await limit.acquire('b');
    const { names, note } = begun();
    void limit.acquire('c').then(note('c'));
    await new Promise(setImmediate);
    expect(names).toEqual([]);
  });

  it('lets a caller that runs nothing begin beyond the places, where the limit says so', async () => {
    const limit = new ConcurrencyLimit({ ...LISTS, running: 2, running_first: 3 });
    const { names, note } = begun();
    const [release] = [await limit.acquire('a'), await limit.acquire('a')];
    void limit.acquire('a').then(note('a'));
    await limit.acquire('b').then(note('b'));
    void limit.acquire('c').then(note('c'));
    await new Promise(setImmediate);
    expect(names).toEqual(['b']);
    release!();
    await new Promise(setImmediate);
    expect(names).toEqual(['b', 'c']);
  });

  it('forgets who leaves while it waits', async () => {
    const limit = limitOf(1);
    const release = await limit.acquire('a');
    const leaving = new AbortController();
    const left = limit.acquire('b', leaving.signal);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    const next = limit.acquire('b');
    release();
    (await next)();
  });

  it('keeps the place of work whose caller has left until it ends, also of work that throws at once', async () => {
    const limit = limitOf(1, { running: 1, waiting: 0 });
    const throwing = limit.run('a', () => {
      throw new Error('at once');
    });
    await expect(throwing).rejects.toThrow('at once');
    const leaving = new AbortController();
    let end = () => {};
    const left = limit.run('a', () => new Promise<void>((resolve) => (end = resolve)), leaving.signal);
    await new Promise(setImmediate);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect(limit.acquire('a')).rejects.toMatchObject({ error: 'TooManyRequests' });
    end();
    await new Promise(setImmediate);
    (await limit.acquire('a'))();
  });
});
