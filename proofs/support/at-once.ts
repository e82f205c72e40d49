/** Runs the work for each, `most` of them at a time. */
export async function atOnce<T>(most: number, all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const left = [...all];
  const run = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: most }, run));
}
