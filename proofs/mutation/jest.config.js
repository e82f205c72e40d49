const config = require('../support/jest.config.js');

/** The tests of `src/domain` alone, which need no server; not those of long texts, which take most of the time. */
module.exports = {
  ...config,
  roots: ['<rootDir>/src/domain', '<rootDir>/test/src/domain'],
  testPathIgnorePatterns: [...(config.testPathIgnorePatterns ?? []), String.raw`\.time\.test\.ts$`],
  testEnvironment: '@stryker-mutator/jest-runner/jest-env/node',
};
