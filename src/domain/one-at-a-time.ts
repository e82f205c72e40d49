/**
 * Runs tasks one after the other, in the order of the calls; a failed task does not stop the next. Otherwise handlers
 * of a workflow would interleave at every await, and requests of a process would crowd each other out.
 */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
