/**
 * Takes one of the places that a caller, for example a project, has: call the result when it is free again.
 * `undefined`: the caller has all that it may have. `taken` counts the places of each caller with any.
 */
export function takePlace(taken: Map<string, number>, caller: string, at_once: number): (() => void) | undefined {
  const count = taken.get(caller) ?? 0;
  if (count >= at_once) return undefined;
  taken.set(caller, count + 1);
  return () => {
    const left = (taken.get(caller) ?? 0) - 1;
    if (left > 0) taken.set(caller, left);
    else taken.delete(caller);
  };
}
