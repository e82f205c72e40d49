const config = require('../support/jest.config.js');

const { TESTS_OF } = process.env;

/**
 * The tests of `src/domain`, which need no server, or only those of the file `TESTS_OF`, such as `query/parse`. Not
 * those of long texts, which take most of the time.
 */
module.exports = {
  ...config,
  roots: ['<rootDir>/src/domain', '<rootDir>/test/src/domain'],
  ...(TESTS_OF && {
    testMatch: [`**/test/src/domain/${TESTS_OF}.test.ts`, `**/test/src/domain/${TESTS_OF}.*.test.ts`],
  }),
  testPathIgnorePatterns: [...(config.testPathIgnorePatterns ?? []), String.raw`\.time\.test\.ts$`],
  testEnvironment: '@stryker-mutator/jest-runner/jest-env/node',
};
