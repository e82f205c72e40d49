import { SpanKind, trace } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import { markFailed, tracer } from './spans';

/** A statement as pg takes it; prepared ones have a name. */
type Statement = string | { text?: string; name?: string };
type Query = (statement: Statement, ...rest: unknown[]) => unknown;
type Done = (error: Error | null, result: unknown) => void;

/**
 * Makes a span of each statement of a connection that belongs to a trace. The span has the kind of the statement, never
 * its text or its values.
 */
export function traceStatements(connection: object): void {
  const traced = connection as { query: Query };
  const query = traced.query.bind(connection);
  traced.query = (statement, ...rest) => {
    const done = rest.at(-1);
    if (typeof done !== 'function' || trace.getActiveSpan() === undefined) return query(statement, ...rest);
    const span = tracer().startSpan(`sql ${statementName(statement)}`, {
      kind: SpanKind.CLIENT,
      attributes: { 'db.system.name': 'postgresql' },
    });
    const end: Done = (error, result) => {
      if (error) markFailed(span, error);
      span.end();
      (done as Done)(error, result);
    };
    return query(statement, ...rest.slice(0, -1), end);
  };
}

/** Names of statements by their text; texts of searches differ, so that old ones are dropped. */
const names = new LRUCache<string, string>({ max: 500 });

/** The name of a prepared statement; otherwise its verb and table, such as `INSERT orders`. */
export function statementName(statement: Statement): string {
  if (typeof statement !== 'string' && statement.name !== undefined) return statement.name;
  const text = typeof statement === 'string' ? statement : (statement.text ?? '');
  const known = names.get(text);
  if (known !== undefined) return known;
  const found = kindOf(text);
  names.set(text, found);
  return found;
}

/** Writes first: a statement with several parts is named after what it changes. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/\binsert\s+into\s+"?(\w+)/i, 'INSERT'],
  [/(?<!\bfor\s+|\bdo\s+|\bno key\s+)\bupdate\s+"?(\w+)/i, 'UPDATE'],
  [/\bdelete\s+from\s+"?(\w+)/i, 'DELETE'],
  [/^\s*(?:with|select)\b[^]*?(?<!\bepoch\s+)\bfrom\s+"?([a-z_]\w*)/i, 'SELECT'],
];

function kindOf(text: string): string {
  for (const [pattern, verb] of KINDS) {
    const table = pattern.exec(text)?.[1];
    if (table !== undefined) return `${verb} ${table}`;
  }
  return /^\s*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? 'statement';
}
