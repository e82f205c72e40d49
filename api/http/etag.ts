/**
 * The version of an order as a strong ETag, which clients send back in If-Match and If-None-Match (RFC 9110,
 * Conditional requests). It grows with every change of the order or its transactions.
 */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/** The versions that If-Match allows; `undefined` when it allows any. Weak or foreign tags name no version. */
export function versionsOf(if_match: string | undefined): number[] | undefined {
  if (if_match === undefined || if_match.trim() === '*') return undefined;
  return tagsOf(if_match).flatMap((tag) => /^"(0|[1-9]\d{0,8})"$/.exec(tag)?.slice(1).map(Number) ?? []);
}

/** Whether the sender of If-None-Match already has this version. */
export function isKnown(if_none_match: string | undefined, version: number): boolean {
  if (if_none_match === undefined) return false;
  return (
    if_none_match.trim() === '*' || tagsOf(if_none_match).some((tag) => tag.replace(/^W\//, '') === etagOf(version))
  );
}

const tagsOf = (header: string) => header.split(',').map((tag) => tag.trim());
