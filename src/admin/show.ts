import { inOneLine } from '../domain/shown-text';
import type { Finding } from './doctor';

/** An answer for people: a line for each field, and an empty line between the objects of a list. */
export function shownAnswer(answer: unknown): string {
  if (answer === null || answer === undefined) return 'Done.\n';
  const { items, next } = answer as { items?: object[]; next?: string };
  if (items === undefined) return fieldsOf(answer as object);
  const whole = items.length === 0 ? 'There is none.\n' : items.map(fieldsOf).join('\n');
  return next === undefined ? whole : `${whole}\nMore: --cursor ${next}\n`;
}

function fieldsOf(object: object): string {
  const entries = Object.entries(object);
  const width = Math.max(...entries.map(([field]) => field.length));
  return entries.map(([field, value]) => `${field.padEnd(width)}  ${shownValue(value)}\n`).join('');
}

function shownValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(shownValue).join(', ');
  return inOneLine(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The results of `doctor`, a line for each check. */
export function shownFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .map(({ check, result, problem, remedy, note }) => {
      const line = `${result.padEnd(7)}  ${check.padEnd(width)}  ${problem ?? note ?? ''}`.trimEnd();
      return remedy === undefined ? `${line}\n` : `${line}\n${' '.repeat(width + 11)}${remedy}\n`;
    })
    .join('');
}
