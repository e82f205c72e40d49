const config = require('../support/jest.config.js');

/** The tests of `src/domain` alone, which need no server. */
module.exports = {
  ...config,
  roots: ['<rootDir>/src/domain', '<rootDir>/test/src/domain'],
  testEnvironment: '@stryker-mutator/jest-runner/jest-env/node',
};
