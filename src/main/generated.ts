import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { configSchema } from '../config';
import { MERCHANT_API } from '../contract/merchant-api';
import { openApi } from '../contract/openapi';
import type { Route } from '../contract/routes';
import { ORDER_MOVES, TRANSACTION_MOVES, toMermaid } from '../domain/transitions';
import { ERRORS, typeOf, type ErrorName } from '../errors';
import { repositoryRoot } from '../stack/files';

/** A file of the repository, or a part of one, that is computed from the code. */
export interface Generated {
  /** Path below the root of the repository. */
  readonly file: string;
  /** The whole content as it should be, given the present one. Throws an Error where the present one has no place for it. */
  readonly content: (present: string) => string;
}

/** Everything that only `npm run generate` writes. */
export const GENERATED: readonly Generated[] = [
  { file: 'api/openapi.json', content: () => `${JSON.stringify(openApi(MERCHANT_API), null, 2)}\n` },
  { file: 'src/client/api.ts', content: client },
  { file: '.env.example', content: envExample },
  {
    file: 'README.md',
    content: (present) =>
      Object.entries(README_BLOCKS).reduce((text, [name, block]) => withBlock(text, name, block()), present),
  },
];

/** Parts of README between `<!-- generated:NAME -->` and `<!-- /generated -->`. */
const README_BLOCKS = { operations, statuses, errors };

function withBlock(text: string, name: string, block: string): string {
  const open = `<!-- generated:${name} -->`;
  const close = '<!-- /generated -->';
  const start = text.indexOf(open);
  const end = text.indexOf(close, start);
  if (start === -1 || end === -1) throw new Error(`there is no ${open} followed by ${close}`);
  return `${text.slice(0, start)}${open}\n${block}\n${text.slice(end)}`;
}

/** The TypeScript client of the OpenAPI document, in a process of its own: the generator brings its own compiler. */
function client(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'client-'));
  try {
    const document = path.join(folder, 'openapi.json');
    writeFileSync(document, JSON.stringify(openApi(MERCHANT_API)));
    const generator = path.join(repositoryRoot(), 'node_modules/oazapfts/dist/cli.js');
    const source = execFileSync(
      process.execPath,
      [generator, document, '--argumentStyle=object', '--useUnknown', '--futureStripLegacyMethods'],
      {
        encoding: 'utf8',
      },
    );
    return `// @ts-nocheck: the types of its runtime do not know exactOptionalPropertyTypes.\n${source}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Every variable with its meaning, unit and default; the empty ones have none. As a file `.env` it changes nothing. */
function envExample(): string {
  const { properties = {} } = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' });
  const variables = Object.entries(properties as Record<string, { description?: string; default?: unknown }>).map(
    ([name, { description = '', default: standard = '' }]) => `# ${description}\n${name}=${String(standard)}\n`,
  );
  return `# Every variable the processes read, with its default. Generated from src/config.ts by npm run generate.\n\n${variables.join('\n')}`;
}

function operations(): string {
  const rows = Object.values(MERCHANT_API.routes).map(
    (route: Route) => `| \`${route.method.toUpperCase()} ${route.path}\` | ${route.summary} |`,
  );
  return table(['Request', 'Operation'], rows);
}

function statuses(): string {
  const diagram = (title: string, mermaid: string) => `${title}\n\n\`\`\`mermaid\n${mermaid}\n\`\`\``;
  return [diagram('An order:', toMermaid(ORDER_MOVES)), diagram('A transaction:', toMermaid(TRANSACTION_MOVES))].join(
    '\n\n',
  );
}

function errors(): string {
  const names = (Object.keys(ERRORS) as ErrorName[]).sort((a, b) => ERRORS[a].status - ERRORS[b].status);
  const rows = names.map(
    (name) => `| \`${typeOf(name)}\` | ${ERRORS[name].status} | ${ERRORS[name].meaning} | ${ERRORS[name].remedy} |`,
  );
  return table(['Type', 'Status', 'Meaning', 'What to do'], rows);
}

function table(head: readonly string[], rows: readonly string[]): string {
  return [`| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...rows].join('\n');
}
