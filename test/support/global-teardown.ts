/** Stops what global-setup has started and removes its data. */
export default async function globalTeardown(): Promise<void> {
  await (globalThis as { discardTestStack?: () => Promise<void> }).discardTestStack?.();
}
