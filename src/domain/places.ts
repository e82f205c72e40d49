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

/** The places that a caller has. */
export interface Share {
  caller: string;
  at_once: number;
}

/** Whether a caller has all the places that it may have. */
export const isUsedUp = (taken: ReadonlyMap<string, number>, { caller, at_once }: Share): boolean =>
  (taken.get(caller) ?? 0) >= at_once;

/** Takes a place of each share, or of none: call the result when they are free again. */
export function takePlaces(taken: Map<string, number>, shares: readonly Share[]): (() => void) | undefined {
  if (shares.some((share) => isUsedUp(taken, share))) return undefined;
  const ends = shares.map(({ caller, at_once }) => takePlace(taken, caller, at_once));
  return () => {
    for (const end of ends) end?.();
  };
}
