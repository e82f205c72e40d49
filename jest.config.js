const { existsSync, readdirSync, readFileSync } = require('node:fs');
const path = require('node:path');

const INSTALLED = path.join(__dirname, 'node_modules');

/** Installed packages that are ES modules only: jest loads CommonJS, so they are compiled as our own code is. */
const ES_MODULES = readdirSync(INSTALLED)
  .flatMap((name) =>
    name.startsWith('@') ? readdirSync(path.join(INSTALLED, name)).map((part) => `${name}/${part}`) : [name],
  )
  .filter((name) => {
    const file = path.join(INSTALLED, name, 'package.json');
    const { type, exports } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
    return type === 'module' && !JSON.stringify(exports ?? '').includes('"require"');
  });

/** Real servers, started once for the run: see test/README.md. */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts', '**/*.test.tsx'],
  transform: {
    '\\.(m?js|tsx?)$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', tsx: true },
          transform: { react: { runtime: 'automatic', importSource: 'preact' } },
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  // Files that end in .mjs are ES modules in any package.
  transformIgnorePatterns: [`/node_modules/(?!(${ES_MODULES.join('|')})/)(?!.*\\.mjs$)`],
  // Files of the client name each other as modules of Node do: by the name that they have when they are compiled.
  moduleNameMapper: {
    '^(\\.{1,2}/(?:api|connection|search))\\.js$': '$1',
    // Most test files would load hundreds of files of these packages: zod's messages in 63 languages, and each operator.
    '^\\.\\./locales/index\\.cjs$': '<rootDir>/node_modules/zod/v4/locales/en.cjs',
    '^rxjs(/operators)?$': '<rootDir>/node_modules/rxjs/dist/bundles/rxjs.umd.js',
  },
  // Passed to each module: otherwise each use is looked up in the context of the test file, which slows loops down.
  sandboxInjectedGlobals: ['Math', 'Object', 'Array', 'String', 'Number', 'JSON'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  setupFiles: process.env.KILL_WORKER === 'true' ? ['<rootDir>/test/support/resend-unavailable.ts'] : [],
  // More than the two cores of CI: while some files wait for timers and restarts, others work. With six a slow machine stalls.
  // Temporal as deployed takes more of them.
  maxWorkers: process.env.TEMPORAL === 'cluster' ? 3 : 4,
  testTimeout: 180_000,
  maxConcurrency: 12,
};
