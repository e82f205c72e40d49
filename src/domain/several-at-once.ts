/**
 * Runs `work` for each in their order, at most `most` at a time. Returns the results in the same order. Throws the
 * first failure, which does not stop the others.
 */
export async function severalAtOnce<One, Result>(
  most: number,
  all: readonly One[],
  work: (one: One, n: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async () => {
    while (next < all.length) {
      const n = next++;
      results[n] = await work(all[n]!, n);
    }
  };
  await Promise.all(Array.from({ length: most }, lane));
  return results;
}
