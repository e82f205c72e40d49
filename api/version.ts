import { preconditionFailed } from '../src/errors';
import type { Context } from './context';

/**
 * The version of an order as HTTP says it: a strong ETag on what shows the order, If-Match on what changes it (RFC 9110,
 * Conditional requests). Every change of an order or of its transactions counts its version on.
 */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/** The versions If-Match allows; `undefined` when any will do. Tags that are weak or not ours name no version. */
export function allowedVersions({ if_match }: Pick<Context, 'if_match'>): number[] | undefined {
  if (if_match === undefined || if_match.trim() === '*') return undefined;
  return tagsOf(if_match).flatMap((tag) => /^"(0|[1-9]\d{0,8})"$/.exec(tag)?.slice(1).map(Number) ?? []);
}

/**
 * Throws PreconditionFailed when the order is not at a version the request allows. Every operation that changes an order
 * calls it before it asks for the change. A repeat by its key passes: it was at that version when it came first.
 */
export function requireVersion(context: Pick<Context, 'if_match' | 'is_repeat'>, version: number): void {
  if (!context.is_repeat && allowedVersions(context)?.includes(version) === false) throw preconditionFailed();
}

/** Whether who sends If-None-Match has this version already. */
export function isKnown(if_none_match: string | undefined, version: number): boolean {
  if (if_none_match === undefined) return false;
  return if_none_match.trim() === '*' || tagsOf(if_none_match).some((tag) => tag.replace(/^W\//, '') === etagOf(version));
}

const tagsOf = (header: string) => header.split(',').map((tag) => tag.trim());
