/** Real servers, started once for the run: see test/support. */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts', '**/*.test.tsx'],
  transform: {
    '^.+\\.(m?js|tsx?)$': [
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
  transformIgnorePatterns: [
    'node_modules/(?!(uuid|jose|meilisearch|iso-3166|preact|preact-render-to-string|temporal-polyfill|temporal-spec|temporal-utils)/)',
  ],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  setupFiles: ['<rootDir>/test/support/resend-unavailable.ts'],
  setupFilesAfterEnv: [],
  testSequencer: '<rootDir>/test/support/sequencer.cjs',
  // More than cores: while one file waits for timers, another works.
  maxWorkers: 4,
  testTimeout: 180_000,
  maxConcurrency: 12,
  // Handed to each module: every other use is looked up in the sandbox, and a loop that calls Math takes twice as long.
  sandboxInjectedGlobals: ['Math', 'Object', 'Array', 'String', 'Number', 'JSON'],
  forceExit: false,
};
