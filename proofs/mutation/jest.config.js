const config = require('../support/jest.config.js');

/**
 * The tests of `src/domain` whose names `TESTS` matches, such as `card*`: they need no server. Not those of long texts,
 * which take most of the time.
 */
module.exports = {
  ...config,
  roots: ['<rootDir>/test/src/domain'],
  testMatch: [`**/test/src/domain/${process.env.TESTS}.test.ts`],
  testPathIgnorePatterns: [...(config.testPathIgnorePatterns ?? []), String.raw`\.time\.test\.ts$`],
  testEnvironment: '@stryker-mutator/jest-runner/jest-env/node',
};
