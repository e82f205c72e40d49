/** One run, whose folder `REPORT` names. */
const { REPORT } = process.env;

export default {
  testRunner: 'jest',
  // Which tests depend on a file takes longer to find out than to run those that jest.config.js chooses.
  jest: { configFile: 'proofs/mutation/jest.config.js', enableFindRelatedTests: false },
  coverageAnalysis: 'perTest',
  concurrency: 1,
  timeoutMS: 4_000,
  timeoutFactor: 2,
  reporters: ['json'],
  jsonReporter: { fileName: `${REPORT}/report.json` },
  ignoreStatic: true,
  tempDirName: `${REPORT}/sandbox`,
  ignorePatterns: ['dist', '.data', '.tools', 'docs', 'test/histories', 'test/journeys', 'api', 'PROOFS.md'],
  disableTypeChecks: false,
  // The tests are compiled without it, and the compiler of this project has no API that Stryker could read it with.
  tsconfigFile: '',
};
