/**
 * Checks the SQL of the compiled migrations with squawk: no statement may rewrite or lock a table that the service uses.
 * Prints what it finds, and exits with 1 then. `node .ci/check-migrations.mjs [folder with compiled migrations]`.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const root = path.join(import.meta.dirname, '..');
const folder = path.resolve(process.argv[2] ?? path.join(root, 'dist/src/db/migrations'));
const names = readdirSync(folder).filter((name) => /^\d{3}-.*\.js$/.test(name)).sort();
if (names.length === 0) throw new Error(`no migration in ${folder}: npm run build`);

let is_refused = false;
for (const name of names) {
  const { up, config } = require(path.join(folder, name));
  const statements = [];
  await up({ raw: async (sql) => (statements.push(sql.trim().replace(/;?$/, ';\n')), { rows: [] }) });
  const found = spawnSync(
    path.join(root, 'node_modules/.bin/squawk'),
    [
      ...['--config', path.join(root, '.squawk.toml'), '--stdin-filepath', name.replace(/js$/, 'sql')],
      ...(config?.transaction === false ? [] : ['--assume-in-transaction']),
    ],
    { input: statements.join(''), encoding: 'utf8' },
  );
  if (found.error !== undefined) throw found.error;
  if (found.status === 0) continue;
  is_refused = true;
  process.stdout.write(found.stdout + found.stderr);
}
process.exitCode = is_refused ? 1 : 0;
