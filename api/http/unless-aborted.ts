/** The result of work. Rejects with the reason of the signal once that is aborted; the work goes on without a listener. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const rejectWithReason = () => reject(signal.reason as Error);
    if (signal.aborted) rejectWithReason();
    else signal.addEventListener('abort', rejectWithReason, { once: true });
  });
  return await Promise.race([work, aborted]);
}
