import { existsSync, rmSync, writeFileSync } from 'node:fs';

/**
 * The first start of a server on new data. If it is killed while making the data, every later start would find half of
 * it: a marker that exists until the first start has succeeded says that the data is worthless.
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
