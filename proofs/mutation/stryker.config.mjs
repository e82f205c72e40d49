const { MUTATE, REPORT, TESTS } = process.env;

/**
 * One run: `MUTATE` says what is changed, divided by commas, and `REPORT` names its folder. With `TESTS=related` those tests
 * are loaded that depend on what is changed, which takes a while to find out.
 */
export default {
  mutate: MUTATE.split(','),
  testRunner: 'jest',
  jest: { configFile: 'proofs/mutation/jest.config.js', enableFindRelatedTests: TESTS === 'related' },
  coverageAnalysis: 'perTest',
  concurrency: 1,
  timeoutMS: 10_000,
  timeoutFactor: 3,
  reporters: ['json'],
  jsonReporter: { fileName: `${REPORT}/report.json` },
  ignoreStatic: true,
  tempDirName: `${REPORT}/sandbox`,
  ignorePatterns: ['dist', '.data', '.tools', 'docs', 'test/histories', 'test/journeys', 'api', 'PROOFS.md'],
  disableTypeChecks: false,
  // The tests are compiled without it, and the compiler of this project has no API that Stryker could read it with.
  tsconfigFile: '',
};
