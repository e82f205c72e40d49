import { SEARCH_FIELD_NAMES, isFieldName, type FieldName } from './fields';
import { hasAtMost } from '../shape';
import { conditionsOf, type SearchQuery } from './query';
import { simplify } from './simplify';
import { nearest, wordsOf } from './text';
import { ValueProblem, equalTo, startingWith, within } from './values';

/**
 * Limits of a query (rules 20.3, 20.23, 20.24). `prefixes`: the index compares each with every value of its field, 10
 * ms for 11,000 orders. `alternations`: the index reads no filter with more groups of OR within AND, one in the other.
 */
export const QUERY_LIMITS = { characters: 8_192, terms: 500, depth: 50, prefixes: 10, alternations: 48 } as const;

/** Longer names are not repeated in an error. */
const NAME_LENGTH_MAX = 100;

/** The error in a query, and where; the position counts characters from 1. */
class Problem extends Error {}

/**
 * Reads a query: terms with NOT (or `-` before them), AND (also side by side) and OR, in that order of binding, and
 * parentheses. A term is `field:value`, a range, a word, or `*`. Returns the query simplified, or the problem in words
 * when it cannot be read; it never repeats a value.
 */
export function parseQuery(text: string): { query: SearchQuery } | { problem: string } {
  if (!hasAtMost(text, QUERY_LIMITS.characters)) {
    return { problem: `The query is longer than ${QUERY_LIMITS.characters} characters.` };
  }
  try {
    return { query: new Parser(text).parse() };
  } catch (error) {
    if (error instanceof Problem) return { problem: error.message };
    throw error;
  }
}

/** The text between two delimiters: a word, a keyword, or a field with its value. */
const RUN = /[^\s"()[\]{}]+/y;
const QUOTED = /"((?:[^"\\]|\\[^])*)"/y;
const SPACE = /\s*/y;

class Parser {
  private at = 0;
  private depth = 0;
  private terms = 0;
  /** Where the term of a condition begins. */
  private readonly positions = new Map<SearchQuery, number>();

  constructor(private readonly text: string) {}

  parse(): SearchQuery {
    const query = this.alternatives();
    // Only a parenthesis ends the alternatives before the text does.
    if (this.at < this.text.length) throw this.problem('`)` without `(`');
    const simplified = simplify(query);
    this.requireAffordable(simplified);
    return simplified;
  }

  /** Throws the Problem of a simplified query that would cost the index too much, or that it cannot read. */
  private requireAffordable(query: SearchQuery): void {
    let prefixes = 0;
    const visit = (one: SearchQuery, alternations: number): void => {
      if (one.op === 'not') return visit(one.of, alternations);
      if (one.op === 'and' || one.op === 'or') {
        const isAlternation = (part: SearchQuery) => one.op === 'and' && part.op === 'or';
        return one.of.forEach((part) => visit(part, isAlternation(part) ? alternations + 1 : alternations));
      }
      if (one.op === 'prefix') prefixes += 1;
      const position = this.positions.get(one);
      if (prefixes > QUERY_LIMITS.prefixes) {
        throw this.problem(`more than ${QUERY_LIMITS.prefixes} terms that end with *`, position);
      }
      if (alternations > QUERY_LIMITS.alternations) {
        throw this.problem(`OR within AND deeper than ${QUERY_LIMITS.alternations} times`, position);
      }
    };
    visit(query, 0);
  }

  /** Terms and OR. */
  private alternatives(): SearchQuery {
    const of = [this.together()];
    while (this.takeKeyword('OR')) of.push(this.together());
    return of.length === 1 ? of[0]! : { op: 'or', of };
  }

  /** Terms side by side, with AND or without. */
  private together(): SearchQuery {
    const of = [this.negatable()];
    while (this.takeKeyword('AND') || !this.isAtEnd()) of.push(this.negatable());
    return of.length === 1 ? of[0]! : { op: 'and', of };
  }

  private isAtEnd(): boolean {
    this.skipSpace();
    return this.at === this.text.length || this.text[this.at] === ')' || this.peekRun() === 'OR';
  }

  private negatable(): SearchQuery {
    this.skipSpace();
    const isMinus = /^-\S/.test(this.text.slice(this.at, this.at + 2));
    if (isMinus) this.at += 1;
    if (!isMinus && !this.takeKeyword('NOT')) return this.term();
    return this.deeper(() => ({ op: 'not', of: this.negatable() }));
  }

  private term(): SearchQuery {
    this.skipSpace();
    const start = this.at;
    if (this.text[start] === '(') return this.parenthesis();
    const term = this.singleTerm(start);
    for (const part of [term, ...conditionsOf(term)]) this.positions.set(part, start);
    return term;
  }

  private singleTerm(start: number): SearchQuery {
    const next = this.text[start];
    if (next === '"') return this.ended(this.words(this.quoted(), start, false));
    if (next === undefined || next === ')') throw this.problem('a term is missing');
    if ('[]{}'.includes(next)) throw this.problem(`\`${next}\` without a field and a colon before it`);
    const run = this.takeRun();
    if (run === 'AND' || run === 'OR') throw this.problem(`a term is missing before \`${run}\``, start);
    const colon = run.indexOf(':');
    if (colon === -1) {
      if (run === '*') return this.ended({ op: 'all' });
      return this.ended(this.words(run, start, run.endsWith('*')));
    }
    this.at = start + colon + 1;
    const field = this.field(run.slice(0, colon), start);
    return this.ended(this.condition(field, start));
  }

  private parenthesis(): SearchQuery {
    const start = this.at;
    this.at += 1;
    const inner = this.deeper(() => this.alternatives());
    if (this.text[this.at] !== ')') throw this.problem('`(` without `)`', start);
    this.at += 1;
    return inner;
  }

  private field(name: string, start: number): FieldName {
    if (isFieldName(name)) return name;
    if (name === '') throw this.problem('a field is missing before the colon', start);
    const meant = name.length > NAME_LENGTH_MAX ? undefined : nearest(name, SEARCH_FIELD_NAMES);
    const shown = name.length > NAME_LENGTH_MAX ? '' : ` \`${name}\``;
    throw this.problem(`unknown field${shown}`, start, meant === undefined ? undefined : `did you mean \`${meant}\`?`);
  }

  /** The part after the colon: nothing, a value, or a range. */
  private condition(field: FieldName, start: number): SearchQuery {
    this.count(1, start);
    const value_at = this.at;
    const next = this.text[this.at];
    if (next === '(') throw this.problem('a parenthesis instead of a value: repeat the field before each value');
    if (next === '[' || next === '{') return this.about(field, value_at, () => this.range(field));
    if (next === '"') {
      const value = this.quoted();
      return this.about(field, value_at, () => equalTo(field, value));
    }
    const value = this.takeRun();
    if (value === '') return { op: 'absent', field };
    if (value === '*') return { op: 'not', of: { op: 'absent', field } };
    return this.about(field, value_at, () =>
      value.endsWith('*') ? startingWith(field, value.slice(0, -1)) : equalTo(field, value),
    );
  }

  /** `[from TO to]`, each end with its own bracket. */
  private range(field: FieldName): SearchQuery {
    const opening = this.text[this.at];
    this.at += 1;
    const from = this.end();
    if (!this.takeKeyword('TO')) throw this.problem('`TO` in capitals is missing');
    const to = this.end();
    this.skipSpace();
    const closing = this.text[this.at];
    if (closing !== ']' && closing !== '}') throw this.problem('`]` or `}` is missing');
    this.at += 1;
    return within(field, from && { ...from, inclusive: opening === '[' }, to && { ...to, inclusive: closing === ']' });
  }

  /** One end of a range; `undefined` for `*`. */
  private end(): { text: string } | undefined {
    this.skipSpace();
    const start = this.at;
    if (this.text[start] === '"') return { text: this.quoted() };
    const run = this.takeRun();
    if (run === '' || run === 'TO') throw this.problem('an end of the range is missing', start);
    return run === '*' ? undefined : { text: run };
  }

  /** Free words; all of them must be there. */
  private words(text: string, start: number, is_prefix: boolean): SearchQuery {
    const words = wordsOf(text);
    if (words.length === 0) throw this.problem('no letter or digit', start);
    this.count(words.length, start);
    const of = words.map((value, index): SearchQuery => {
      const is_last = index === words.length - 1;
      return { op: is_prefix && is_last ? 'prefix' : 'equals', field: 'words', value };
    });
    return of.length === 1 ? of[0]! : { op: 'and', of };
  }

  /** The content of the quotes that begin here. */
  private quoted(): string {
    QUOTED.lastIndex = this.at;
    const [whole, content] = QUOTED.exec(this.text) ?? [];
    if (whole === undefined || content === undefined) throw this.problem('a quote that does not end');
    this.at += whole.length;
    return content.replace(/\\(["\\])/g, '$1');
  }

  /** Runs what reads a value; a problem of the value is one of the field at this position. */
  private about(field: FieldName, position: number, read: () => SearchQuery): SearchQuery {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ValueProblem)) throw error;
      throw new Problem(`\`${field}\` at ${this.character(position)} ${error.message}${hinted(error.hint)}`);
    }
  }

  /** A term must not run into the next one: `status:"new"x` is a mistake. */
  private ended(query: SearchQuery): SearchQuery {
    const next = this.text[this.at];
    if (next !== undefined && next !== ')' && !/\s/.test(next)) throw this.problem('a space is missing');
    return query;
  }

  private deeper(read: () => SearchQuery): SearchQuery {
    this.depth += 1;
    if (this.depth > QUERY_LIMITS.depth) throw this.problem(`nested deeper than ${QUERY_LIMITS.depth} levels`);
    const inner = read();
    this.depth -= 1;
    return inner;
  }

  private count(terms: number, start: number): void {
    this.terms += terms;
    if (this.terms > QUERY_LIMITS.terms) throw this.problem(`more than ${QUERY_LIMITS.terms} terms`, start);
  }

  private skipSpace(): void {
    SPACE.lastIndex = this.at;
    this.at += SPACE.exec(this.text)![0].length;
  }

  private peekRun(): string {
    RUN.lastIndex = this.at;
    return RUN.exec(this.text)?.[0] ?? '';
  }

  private takeRun(): string {
    const run = this.peekRun();
    this.at += run.length;
    return run;
  }

  private takeKeyword(keyword: string): boolean {
    this.skipSpace();
    if (this.peekRun() !== keyword) return false;
    this.at += keyword.length;
    return true;
  }

  private problem(what: string, position = this.at, hint?: string): Problem {
    return new Problem(`${what} at ${this.character(position)}${hinted(hint)}`);
  }

  private character(position: number): number {
    return Array.from(this.text.slice(0, position)).length + 1;
  }
}

const hinted = (hint: string | undefined) => (hint === undefined ? '' : `, ${hint}`);
