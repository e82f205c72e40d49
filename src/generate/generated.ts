import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { configSchema } from '../config';
import { MANAGE_API } from '../contract/manage/manage-api';
import { MERCHANT_API } from '../contract/merchant-api';
import { openApi, type OpenApi } from '../contract/openapi';
import type { Route, RouteSet } from '../contract/routes';
import { FIELDS, SEARCH_FIELD_NAMES, SORT_FIELDS, type Field } from '../domain/query/fields';
import { ORDER_MOVES, PAYMENT_LINK_MOVES, TRANSACTION_MOVES, toMermaid } from '../domain/transitions';
import { ERRORS, errorTypeOf, type ErrorName } from '../errors';
import { METRICS, OTHER, type Metric } from '../metrics/catalogue';
import { TEST_CARDS } from '../simulator/cards';
import { repositoryRoot } from '../stack/files';
import { dynamicConfigText, dynamicConfigValues } from '../stack/servers/temporal';
import { DASHBOARDS, dashboardText } from './dashboards';
import { withRuleTests } from './rule-tests';

/** A file of the repository, or a part of one, that is computed from the code. */
export interface Generated {
  /** Path below the root of the repository. */
  readonly file: string;
  /** The expected content, given the current one. Throws an Error if the current content has no place for it. */
  readonly content: (current: string) => string;
}

/** The blocks of each page, between `<!-- generated:NAME -->` and `<!-- /generated -->`. */
const PAGES: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/api.md': { operations: () => operations(MERCHANT_API) },
  'docs/manage.md': { operations: () => operations(MANAGE_API) },
  'docs/statuses.md': {
    order_moves: () => diagram(toMermaid(ORDER_MOVES)),
    transaction_moves: () => diagram(toMermaid(TRANSACTION_MOVES)),
    payment_link_moves: () => diagram(toMermaid(PAYMENT_LINK_MOVES)),
  },
  'docs/errors.md': { errors },
  'docs/sandbox.md': { cards },
  'docs/search.md': { fields },
  'docs/operations.md': { metrics },
};

/** Pages that the description of the merchants' API holds as chapters, in this order. */
const CHAPTERS = ['statuses', 'webhooks', 'receivers', 'search', 'errors', 'sandbox'].map((name) => `docs/${name}.md`);

/** Everything that only `npm run generate` writes. */
export const GENERATED: readonly Generated[] = [
  { file: 'api/openapi.json', content: () => `${JSON.stringify(merchantDocument(), null, 2)}\n` },
  { file: 'api/manage/openapi.json', content: () => `${JSON.stringify(openApi(MANAGE_API), null, 2)}\n` },
  { file: 'src/client/api.ts', content: () => client(MERCHANT_API) },
  { file: 'src/client/manage/api.ts', content: () => client(MANAGE_API) },
  { file: '.env.example', content: envExample },
  { file: 'deploy/temporal/dynamic-config.yaml', content: dynamicConfigText },
  { file: 'deploy/temporal/helm-values.yaml', content: dynamicConfigValues },
  { file: 'docs/rules.md', content: withRuleTests },
  ...DASHBOARDS.map((one) => ({ file: `deploy/grafana/${one.name}.json`, content: () => dashboardText(one) })),
  ...Object.keys(PAGES).map((file) => ({ file, content: (current: string) => withBlocks(file, current) })),
];

function withBlocks(file: string, current: string): string {
  return Object.entries(PAGES[file] ?? {}).reduce((text, [name, block]) => withBlock(text, name, block()), current);
}

/** The page with a block between its marks. Throws an Error where it has no place for it. */
export function withBlock(text: string, name: string, block: string): string {
  const open = `<!-- generated:${name} -->`;
  const close = '<!-- /generated -->';
  const start = text.indexOf(open);
  const end = text.indexOf(close, start);
  if (start === -1 || end === -1) throw new Error(`there is no ${open} followed by ${close}`);
  return `${text.slice(0, start)}${open}\n${block}\n${text.slice(end)}`;
}

/** The OpenAPI document of the merchants' API, with the chapters that are pages of docs. */
function merchantDocument(): OpenApi {
  const pages = CHAPTERS.map((file) =>
    chapter(withBlocks(file, readFileSync(path.join(repositoryRoot(), file), 'utf8'))),
  );
  return openApi({ ...MERCHANT_API, description: [MERCHANT_API.description, ...pages].join('\n\n') });
}

/** A page without diagrams, marks and links to other pages, which only a repository shows. */
function chapter(page: string): string {
  return page
    .replace(/```mermaid\n[^]*?```\n/g, '')
    .replace(/^<!--.*-->\n+/gm, '')
    .replace(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1')
    .trim();
}

/**
 * The TypeScript client of an API's OpenAPI document, in a process of its own: the generator brings its own compiler.
 */
function client(api: RouteSet): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'client-'));
  try {
    const document = path.join(folder, 'openapi.json');
    writeFileSync(document, JSON.stringify(openApi(api)));
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

/**
 * All variables with meaning, unit and default; empty ones have no default. Used as `.env`, the file changes nothing.
 */
function envExample(): string {
  const { properties = {} } = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' });
  const variables = Object.entries(properties as Record<string, { description?: string; default?: unknown }>).map(
    ([name, { description = '', default: standard = '' }]) => `# ${description}\n${name}=${String(standard)}\n`,
  );
  return `# Every variable the processes read, with its default. Generated from src/config.ts by npm run generate.\n\n${variables.join('\n')}`;
}

function operations(api: RouteSet): string {
  const rows = Object.values(api.routes).map(
    (route: Route) => `| \`${route.method.toUpperCase()} ${route.path}\` | ${route.summary} |`,
  );
  return table(['Request', 'Operation'], rows);
}

function cards(): string {
  const rows = Object.values(TEST_CARDS).map(
    ({ number, meaning }) => `| ${number.replace(/(\d{4})(?=\d)/g, '$1 ')} | ${meaning} |`,
  );
  return table(['Card', 'What happens'], rows);
}

const diagram = (mermaid: string) => `\`\`\`mermaid\n${mermaid}\n\`\`\``;

function errors(): string {
  const names = (Object.keys(ERRORS) as ErrorName[]).sort((a, b) => ERRORS[a].status - ERRORS[b].status);
  const rows = names.map((name) => {
    const { status, meaning, remedy } = ERRORS[name];
    return `| ${status} \`${errorTypeOf(name)}\` | ${meaning} ${remedy} |`;
  });
  return table(['Error', 'Meaning, and what to do'], rows);
}

function fields(): string {
  const rows = SEARCH_FIELD_NAMES.map((name) => {
    const isSorted = (SORT_FIELDS as readonly string[]).includes(name);
    return `| \`${name}\` | ${valuesOf(FIELDS[name])} | ${isSorted ? 'yes' : ''} |`;
  });
  return table(['Field', 'Values', 'Can be sorted by'], rows);
}

/** More are not listed. */
const LISTED_VALUES_MAX = 20;

function valuesOf({ type, values = [] }: Field): string {
  switch (type) {
    case 'text':
      return 'text';
    case 'uuid':
      return 'uuid';
    case 'choice':
      return values.length > LISTED_VALUES_MAX ? 'currency' : values.map((value) => `\`${value}\``).join(', ');
    case 'integer':
      return 'minor units';
    case 'decimal':
      return 'main units';
    case 'instant':
      return 'time';
  }
}

/** Longer lists of values are not shown. */
const LABEL_VALUES_MAX = 9;

function metrics(): string {
  const labelOf = ([label, values]: [string, readonly string[] | null]) => {
    const listed = values?.filter((value) => value !== OTHER) ?? [];
    const isShown = values !== null && listed.length <= LABEL_VALUES_MAX;
    return isShown ? `\`${label}\`: ${listed.join(', ')}` : `\`${label}\``;
  };
  const rows = (Object.entries(METRICS) as [string, Metric][]).map(([name, { type, help, labels, processes, only }]) =>
    [
      `| \`${name}\``,
      type,
      Object.entries(labels).map(labelOf).join('; '),
      processes.join(', '),
      `${help}${only === undefined ? '' : ` Exported ${only}.`} |`,
    ].join(' | '),
  );
  return table(['Metric', 'Type', 'Labels', 'Processes', 'What it measures'], rows);
}

function table(head: readonly string[], rows: readonly string[]): string {
  return [`| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...rows].join('\n');
}
