/** Real servers, started once for the run: see test/support. */
module.exports = {
  testEnvironment: '<rootDir>/test/support/environment.cjs',
  runtime: '<rootDir>/test/support/runtime.cjs',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts', '**/*.test.tsx'],
  transform: {
    '\\.tsx?$': [
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
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  setupFiles: process.env.KILL_WORKER === 'true' ? ['<rootDir>/test/support/resend-unavailable.ts'] : [],
  testSequencer: '<rootDir>/test/support/sequencer.cjs',
  // More than cores: while one file waits for timers, another works.
  maxWorkers: 5,
  testTimeout: 180_000,
  maxConcurrency: 12,
};
