export type OneAtATime = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Runs work in the order it comes, each when the one before has ended, also with an error. Handlers of a workflow
 * would otherwise interleave at every await, and requests of a process crowd out one another.
 */
export function oneAtATime(): OneAtATime {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
