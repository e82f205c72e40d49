/**
 * Texts of others, such as a merchant's reference or a name, as operators see them. A character that acts instead of
 * being seen - an escape sequence of a terminal, a line break, a mark of direction, a part of Markdown - is shown by its
 * code.
 */

/** Control and format characters, separators of lines, unpaired surrogates, and characters without an agreed meaning. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/u;
const EACH_UNSEEN = new RegExp(UNSEEN, 'gu');
const EACH_UNSEEN_IN_LINES = new RegExp(`(?!\\n)${UNSEEN.source}`, 'gu');

/** Whether a text has characters that act instead of being seen: no name has. */
export const hasUnseen = (text: string): boolean => UNSEEN.test(text);

/** The text in one line, with what is unseen as JSON writes it: `\u001b`. */
export const inOneLine = (text: string): string => text.replace(EACH_UNSEEN, escapeOf);

/** Like inOneLine for a text of lines, which stay. JSON stays the same JSON. */
export const inLines = (text: string): string => text.replace(EACH_UNSEEN_IN_LINES, escapeOf);

const escapeOf = (character: string): string =>
  Array.from({ length: character.length }, (_, n) => character.charCodeAt(n).toString(16).padStart(4, '0'))
    .map((code) => `\\u${code}`)
    .join('');

/**
 * ASCII characters that Markdown or HTML may take for its own. A dot or hyphen within a word is none, so that most
 * references stay as they are.
 */
const MARKUP = /[!-+/:-@[-`{-~]|(?<![\p{L}\p{N}])[-.]|[-.](?![\p{L}\p{N}])/gu;

/** The text in one line, as Markdown and HTML that show it and nothing else: no link, image or emphasis. */
export const asMarkdown = (text: string): string =>
  inOneLine(text).replace(MARKUP, (character) => `&#${character.charCodeAt(0)};`);
