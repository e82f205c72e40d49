export type OneAtATime = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs what it is given in that order, each when the one before has ended, whatever became of that. */
export function oneAtATime(): OneAtATime {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}
