/** The result of work. Rejects with the reason of the signal once that is aborted; the work goes on without a listener. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let rejectWithReason = () => {};
  const aborted = new Promise<never>((_, reject) => {
    rejectWithReason = () => reject(signal.reason as Error);
    if (signal.aborted) rejectWithReason();
    else signal.addEventListener('abort', rejectWithReason, { once: true });
  });
  // A signal may be that of many works, one after another.
  return await Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', rejectWithReason));
}
