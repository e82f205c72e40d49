/**
 * The version of an order as a strong ETag, which clients send back in If-Match and If-None-Match (RFC 9110,
 * Conditional requests). It grows with every change of the order or its transactions. `restored_at`: when the record was
 * last restored, epoch seconds, 0 if never: versions that were lost are counted again, and other content has them.
 */
export function etagOf(version: number, restored_at: number): string {
  return restored_at === 0 ? `"${version}"` : `"${version}-${restored_at}"`;
}

/** The versions that If-Match allows; `undefined` when it allows any. Weak or foreign tags name no version. */
export function versionsOf(if_match: string | undefined, restored_at: number): number[] | undefined {
  if (if_match === undefined || if_match.trim() === '*') return undefined;
  return tagsOf(if_match).flatMap((tag) => {
    const version = Number(/^"(0|[1-9]\d{0,8})[-"]/.exec(tag)?.[1]);
    return Number.isInteger(version) && tag === etagOf(version, restored_at) ? [version] : [];
  });
}

/** Whether the sender of If-None-Match already has this version. */
export function isKnown(if_none_match: string | undefined, version: number, restored_at: number): boolean {
  if (if_none_match === undefined) return false;
  const etag = etagOf(version, restored_at);
  return if_none_match.trim() === '*' || tagsOf(if_none_match).some((tag) => tag.replace(/^W\//, '') === etag);
}

const tagsOf = (header: string) => header.split(',').map((tag) => tag.trim());
