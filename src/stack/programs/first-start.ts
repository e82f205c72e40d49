import { existsSync, rmSync, writeFileSync } from 'node:fs';

/**
 * The first start of a server on new data. If it is killed while it creates the data, the data is incomplete. A marker
 * file exists until the first start has succeeded; while it exists, the data is discarded.
 */
export async function guardFirstStart(
  marker: string,
  data: readonly string[],
  start: () => Promise<void>,
): Promise<void> {
  if (existsSync(marker)) for (const file of data) rmSync(file, { recursive: true, force: true });
  const isFirst = !data.some((file) => existsSync(file));
  if (isFirst) writeFileSync(marker, '');
  await start();
  if (isFirst) rmSync(marker, { force: true });
}
