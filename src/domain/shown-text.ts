/**
 * Shows outside texts, such as a merchant's reference or a name, to operators. Characters with an effect (terminal
 * escape sequences, line breaks, direction marks, Markdown) are replaced by their codes.
 */

/**
 * Control and format characters, separators of lines, unpaired surrogates, and characters without an agreed meaning.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/u;
const EACH_UNSEEN = new RegExp(UNSEEN, 'gu');
const EACH_UNSEEN_IN_LINES = new RegExp(`(?!\\n)${UNSEEN.source}`, 'gu');

/** Whether a text has characters with an effect; names must not have any. */
export const hasUnseen = (text: string): boolean => UNSEEN.test(text);

/** The text in one line, with invisible characters escaped as in JSON: `\u001b`. */
export const inOneLine = (text: string): string => text.replace(EACH_UNSEEN, escapeOf);

/** Like inOneLine, but keeps line breaks. JSON keeps its meaning. */
export const inLines = (text: string): string => text.replace(EACH_UNSEEN_IN_LINES, escapeOf);

const escapeOf = (character: string): string =>
  Array.from({ length: character.length }, (_, n) => character.charCodeAt(n).toString(16).padStart(4, '0'))
    .map((code) => `\\u${code}`)
    .join('');

/**
 * ASCII characters with a meaning in Markdown or HTML. A dot or hyphen within a word has none, so most references stay
 * unchanged.
 */
const MARKUP = /[!-+/:-@[-`{-~]|(?<![\p{L}\p{N}])[-.]|[-.](?![\p{L}\p{N}])/gu;

/** The text in one line, escaped for Markdown and HTML: no links, images or emphasis. */
export const asMarkdown = (text: string): string =>
  inOneLine(text).replace(MARKUP, (character) => `&#${character.charCodeAt(0)};`);
