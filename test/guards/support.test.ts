import { files, linesWith, textOfFile } from './repository';

/** Lines of what a new test has to learn: test/support and the helper files beside tests. */
const LINES_MAX = 3_420;

const isTest = (file: string) => /\.test\.tsx?$/.test(file);

test('journeys are tests and nothing else', () => {
  expect(files().filter((file) => file.startsWith('test/journeys/') && !isTest(file))).toEqual([]);
});

test(`helper files of tests have at most ${LINES_MAX} lines together`, () => {
  const helpers = files().filter((file) => /^test\/.*\.(ts|tsx|cjs)$/.test(file) && !isTest(file));
  const lines = helpers.reduce((sum, file) => sum + textOfFile(file).split('\n').length - 1, 0);
  expect(lines).toBeLessThanOrEqual(LINES_MAX);
});

test('jest runs with its own runtime, environment, runner and order of files', () => {
  const replaced = /^\s*['"]?(runtime|runner|testRunner|testSequencer|resolver|moduleLoader)\b/;
  expect(linesWith('jest.config.js', replaced)).toEqual([]);
  expect(linesWith('jest.config.js', /\btestEnvironment: 'node'/)).toHaveLength(1);
});
