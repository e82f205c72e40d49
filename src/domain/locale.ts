/**
 * The first of these language tags in whose notation amounts can be written, with `-` where a client wrote `_`; `en`
 * when none can.
 */
export function knownLocale(tags: readonly string[]): string {
  return tags.map((tag) => tag.replaceAll('_', '-')).find(isKnown) ?? 'en';
}

function isKnown(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    // No language tag, for example the `*` of Accept-Language.
    return false;
  }
}
