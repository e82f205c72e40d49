/** Shows the progress of the stack; `name` is the part that works, for example `PostgreSQL`. */
export interface Progress {
  say(name: string, text: string): void;
  /**
   * Announces the work, reports every 15 s that it continues and at the end how long it took, and passes on its result
   * or failure.
   */
  step<T>(name: string, text: string, work: () => Promise<T>): Promise<T>;
}

const STILL_AT_IT_MS = 15_000;

/** Prints one line per step to `write`, standard output by default. */
export function createProgress(write: (text: string) => void = (text) => void process.stdout.write(text)): Progress {
  const say = (name: string, text: string) => write(`${name.padEnd(12)} ${text}\n`);
  return {
    say,
    async step(name, text, work) {
      const began = performance.now();
      const seconds = () => ((performance.now() - began) / 1000).toFixed(1);
      say(name, `${text} …`);
      const ticker = setInterval(
        () => say(name, `${text}: still at it after ${Math.round(Number(seconds()))} s`),
        STILL_AT_IT_MS,
      );
      try {
        const result = await work();
        say(name, `${text}: done in ${seconds()} s`);
        return result;
      } finally {
        clearInterval(ticker);
      }
    },
  };
}

/** Prints nothing: for tests. */
export const silent: Progress = { say: () => undefined, step: (_name, _text, work) => work() };
