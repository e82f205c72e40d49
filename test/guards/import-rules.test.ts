import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from './repository';

/** Each rule broken on purpose, in a tree of its own: the rule, the file that breaks it, what that file says. */
const BROKEN: [rule: string, file: string, source: string][] = [
  ['no-cycles', 'src/db/hen.ts', `import './egg';`],
  ['resolvable', 'src/db/lost.ts', `import './nowhere';`],
  ['declared-packages', 'src/db/undeclared.ts', `import 'undeclared';`],
  ['no-dev-packages-in-production', 'src/db/dev.ts', `import 'jest';`],
  ['errors-import-nothing', 'src/errors.ts', `import { z } from 'zod';`],
  ['ids-import-nothing', 'src/ids.ts', `import './errors';`],
  ['config-stands-alone', 'src/log.ts', `import './db/orders';`],
  ['metrics-below-adapters', 'src/metrics/rows.ts', `import '../db/orders';`],
  ['domain-is-pure', 'src/domain/clock.ts', `import { hrtime } from 'node:process';`],
  ['domain-is-pure', 'src/domain/shapes.ts', `import type { Order } from '../contract/order';`],
  ['contract-below-all', 'src/contract/rows.ts', `import type { Row } from '../db/orders';`],
  ['adapter-search', 'src/search/rows.ts', `import '../db/orders';`],
  ['adapter-processor', 'src/processor/posted.ts', `import '../webhook/post';`],
  ['adapter-db', 'src/db/starts.ts', `import '../temporal/orders';`],
  ['adapter-temporal', 'src/temporal/order.ts', `import '../../workflows/order';`],
  ['adapter-webhook', 'src/webhook/served.ts', `import '../../api/app';`],
  ['workflows-at-run-time', 'workflows/parses.ts', `import { z } from 'zod';`],
  ['workflows-at-run-time', 'workflows/acts.ts', `import { pay } from '../activities/pay';`],
  ['workflows-above-domain', 'workflows/row.ts', `import type { Row } from '../src/db/orders';`],
  ['activities-below-api', 'activities/workflow.ts', `import '../workflows/order';`],
  ['api-below-main', 'api/workflow.ts', `import type { Order } from '../workflows/order';`],
  ['client-stands-alone', 'src/client/shapes.ts', `import type { Order } from '../contract/order';`],
  ['simulator-is-another-company', 'src/simulator/calls.ts', `import '../processor/client';`],
  ['stack-knows-servers-only', 'src/stack/migrates.ts', `import '../db/orders';`],
  ['processes-above-all', 'src/stack/recovers.ts', `import '../recovery/recovery';`],
  ['nobody-imports-main', 'src/stack/starts.ts', `import '../main/api';`],
  ['nobody-imports-test', 'src/db/faked.ts', `import '../../test/support/fake';`],
  ['knex-only-in-db', 'activities/queries.ts', `import type { Knex } from 'knex';`],
  ['knex-only-in-db', 'api/queries.ts', `export type Db = import('knex').Knex;`],
  ['meilisearch-only-in-search', 'api/finds.ts', `import { Meilisearch } from 'meilisearch';`],
  ['express-only-at-the-edge', 'src/webhook/serves.ts', `import express from 'express';`],
  ['express-only-at-the-edge', 'src/main/serves.ts', `const app = require('express');`],
  ['no-express-in-operations', 'api/operations/http.ts', `import type { Request } from 'express';`],
  ['worker-sdk-only-where-workers-start', 'activities/native.ts', `import { Worker } from '@temporalio/worker';`],
  ['temporal-client-only-in-temporal', 'activities/starts.ts', `import type { Client } from '@temporalio/client';`],
  [
    'worker-sdk-only-where-workers-start',
    'test/workflows/native.test.ts',
    `const { Worker } = await import('@temporalio/worker');`,
  ],
  ['no-dead-files', 'src/domain/tested-only.ts', `export const unused = 1;`],
];

/** What the same rules must let pass. */
const ALLOWED: [file: string, source: string][] = [
  [
    'workflows/order.ts',
    `import type { z } from 'zod'; import { type Order } from '../src/contract/order'; import { sleep } from '@temporalio/workflow'; import '../src/domain/order';`,
  ],
  ['workflows/proxies.ts', `import type * as activities from '../activities/pay';`],
  ['activities/pay.ts', `import '../src/db/orders'; import '../src/errors';`],
  [
    'api/app.tsx',
    `import express from 'express'; import '../workflows/messages'; export const App = () => <main>ok</main>;`,
  ],
  [
    'api/generic.ts',
    `import './app'; export const same = <T>(value: T): T => value; class Kept { accessor = 1; static { same(1); } }`,
  ],
  ['src/domain/order.ts', `import '../errors'; import { data } from 'currency-codes';`],
  [
    'src/temporal/orders.ts',
    `import '../db/orders'; import '../../workflows/messages'; import { Client } from '@temporalio/client';`,
  ],
  ['src/simulator/server.ts', `import '../processor/wire'; import express from 'express';`],
  [
    'src/main/api.ts',
    `import '../../api/generic'; import '../simulator/server'; import '../temporal/orders'; import '../../workflows/order'; import '../../workflows/proxies'; import { Worker } from '@temporalio/worker';`,
  ],
];

/** Files the sources above point at. */
const TARGETS = [
  ...[
    'errors',
    'config',
    'log',
    'domain/order',
    'contract/order',
    'db/orders',
    'temporal/orders',
    'search/index',
    'processor/wire',
    'processor/client',
    'webhook/post',
    'recovery/recovery',
  ].map((name) => `src/${name}.ts`),
  ...[
    'src/main/api.ts',
    'api/app.tsx',
    'activities/pay.ts',
    'workflows/order.ts',
    'workflows/messages.ts',
    'test/support/fake.ts',
  ],
];
const PACKAGES = [
  'zod',
  'uuid',
  'knex',
  'meilisearch',
  'express',
  'currency-codes',
  '@temporalio/client',
  '@temporalio/worker',
  '@temporalio/workflow',
];

const trees: string[] = [];
afterAll(() => trees.forEach((tree) => rmSync(tree, { recursive: true })));

interface Violation {
  rule: { name: string };
  from: string;
  to: string;
}

/** Writes a tree with stub packages and answers what the rules of the repository say about it. */
function cruise(sources: [file: string, source: string][]): Violation[] {
  const tree = mkdtempSync(path.join(os.tmpdir(), 'import-rules-'));
  trees.push(tree);
  const write = (file: string, content: string) => {
    mkdirSync(path.dirname(path.join(tree, file)), { recursive: true });
    writeFileSync(path.join(tree, file), content);
  };
  for (const name of [...PACKAGES, 'jest', 'undeclared']) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
    write(`node_modules/${name}/index.js`, '');
  }
  write(
    'package.json',
    JSON.stringify({
      dependencies: Object.fromEntries(PACKAGES.map((name) => [name, '1.0.0'])),
      devDependencies: { jest: '1.0.0' },
    }),
  );
  for (const name of ['.dependency-cruiser.cjs', '.dependency-cruiser.babel.cjs']) {
    write(name, readFileSync(path.join(ROOT, name), 'utf8'));
  }
  for (const file of TARGETS) write(file, 'export {};');
  for (const [file, source] of sources) write(file, source);
  const program = path.join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const folders = ['src', 'workflows', 'activities', 'api', 'test'];
  const run = spawnSync(
    process.execPath,
    [program, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...folders],
    {
      cwd: tree,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  if (!run.stdout.startsWith('{')) throw new Error(run.stderr);
  return (JSON.parse(run.stdout) as { summary: { violations: Violation[] } }).summary.violations;
}

describe('import rules', () => {
  let violations: Violation[];
  beforeAll(() => {
    violations = cruise([
      ...BROKEN.map(([, file, source]): [string, string] => [file, source]),
      ['src/db/egg.ts', `import './hen';`],
      ['test/src/domain/tested-only.test.ts', `import '../../../src/domain/tested-only';`],
    ]);
  });

  it.each(BROKEN)('%s refuses %s: %s', (rule, file) => {
    const refused = violations
      .filter((violation) => violation.rule.name === rule)
      .flatMap(({ from, to }) => (rule === 'no-cycles' ? [from, to] : [from]));
    expect(refused).toContain(file);
  });

  it('are all broken here once', () => {
    const config = JSON.parse(
      execFileSync(
        process.execPath,
        ['-p', `JSON.stringify(require('./.dependency-cruiser.cjs').forbidden.map((rule) => rule.name))`],
        {
          cwd: ROOT,
          encoding: 'utf8',
        },
      ),
    ) as string[];
    expect([...new Set(BROKEN.map(([rule]) => rule))].toSorted()).toEqual(config.toSorted());
  });

  it('let types and everything below pass', () => {
    const used = new Set(ALLOWED.map(([file]) => file));
    const refused = cruise(ALLOWED).filter(({ rule, from }) => used.has(from) || rule.name !== 'no-dead-files');
    expect(refused).toEqual([]);
  });
});
