import { existsSync, rmSync, writeFileSync } from 'node:fs';

/**
 * The first start of a server on new data. Killed in the middle of making them, a server would find half of them at every
 * later start: a marker beside them, there until the first start has succeeded, says that they are worth nothing.
 */
export async function guardFirstStart(marker: string, data: readonly string[], start: () => Promise<void>): Promise<void> {
  if (existsSync(marker)) for (const file of data) rmSync(file, { recursive: true, force: true });
  const isFirst = !data.some((file) => existsSync(file));
  if (isFirst) writeFileSync(marker, '');
  await start();
  if (isFirst) rmSync(marker, { force: true });
}
