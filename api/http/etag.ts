import { preconditionFailed } from '../../src/errors';
import type { Context } from '../context';

/**
 * The version of an order as a strong ETag, which clients send back in If-Match and If-None-Match (RFC 9110, Conditional requests).
 * It grows with every change of the order or its transactions.
 */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/** The versions If-Match allows; `undefined` when it allows any. Weak or foreign tags name no version. */
export function allowedVersions({ if_match }: Pick<Context, 'if_match'>): number[] | undefined {
  if (if_match === undefined || if_match.trim() === '*') return undefined;
  return tagsOf(if_match).flatMap((tag) => /^"(0|[1-9]\d{0,8})"$/.exec(tag)?.slice(1).map(Number) ?? []);
}

/**
 * Throws PreconditionFailed when the order is not at a version the request allows. Every operation that changes an order calls it
 * first. A repeat by its key passes: its first run may have changed the version.
 */
export function requireVersion(context: Pick<Context, 'if_match' | 'is_repeat'>, version: number): void {
  if (!context.is_repeat) refuseOtherVersion(context, version);
}

/** Like requireVersion, also for a repeat: for one whose first run is known to have changed nothing. */
export function refuseOtherVersion(context: Pick<Context, 'if_match'>, version: number): void {
  if (allowedVersions(context)?.includes(version) === false) throw preconditionFailed();
}

/** Whether the sender of If-None-Match already has this version. */
export function isKnown(if_none_match: string | undefined, version: number): boolean {
  if (if_none_match === undefined) return false;
  return (
    if_none_match.trim() === '*' || tagsOf(if_none_match).some((tag) => tag.replace(/^W\//, '') === etagOf(version))
  );
}

const tagsOf = (header: string) => header.split(',').map((tag) => tag.trim());
