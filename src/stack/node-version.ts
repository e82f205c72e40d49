/** The major version of Node that the image has; package.json has the oldest that works. */
export const RECOMMENDED_NODE = 24;

/** One line for whoever starts it on an older Node; `undefined` with the recommended one or a newer. */
export function nodeAdvice(version: string): string | undefined {
  const major = Number(version.split('.', 1)[0]);
  return major < RECOMMENDED_NODE ? `runs on Node ${version}; Node ${RECOMMENDED_NODE} is recommended` : undefined;
}
