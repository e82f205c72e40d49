// Reads the reports that `jest --json` writes.
//
//   node .ci/totals.mjs failed REPORT               prints the files with failed tests, a line each
//   node .ci/totals.mjs sum REPORT:EXIT[:AGAIN] …   prints the totals of these runs as `PASSED FAILED OUTSIDE`
//
// EXIT is the exit status of the run, AGAIN that of a second run of the files that failed in the first. Failed tests that
// passed in it count as passed, and are printed. OUTSIDE counts the runs that failed for another reason than a test,
// such as a difference between the record and the processor's ledger at their end. Fails when a run had no test.
import { readFileSync } from 'node:fs';

/** The exit status of a run whose record differs (test/support/global-teardown.ts). */
const RECORD_DIFFERS = '3';

const [command, ...rest] = process.argv.slice(2);
const print = (line) => process.stdout.write(`${line}\n`);
if (command === 'failed') for (const { name } of failedFiles(rest[0])) print(name);
if (command === 'sum') print(sum(rest.map((run) => run.split(':'))).join(' '));

function sum(runs) {
  const totals = [0, 0, 0];
  for (const [report, exit, exit_again] of runs) {
    const { numPassedTests } = read(report);
    const failed = failedFiles(report).flatMap(failedTests);
    if (numPassedTests + failed.length === 0) throw new Error('no test ran');
    const has_passed_again = exit_again === '0';
    if (has_passed_again) for (const name of failed) process.stderr.write(`passed only by itself: ${name}\n`);
    totals[0] += numPassedTests + (has_passed_again ? failed.length : 0);
    totals[1] += has_passed_again ? 0 : failed.length;
    totals[2] += exit === RECORD_DIFFERS || (exit !== '0' && failed.length === 0) ? 1 : 0;
  }
  return totals;
}

function read(report) {
  return JSON.parse(readFileSync(report, 'utf8'));
}

function failedFiles(report) {
  return read(report).testResults.filter(({ status }) => status === 'failed');
}

/** A file that could not even be loaded has no tests to count: it counts as one that failed. */
function failedTests({ name, assertionResults }) {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  return failed.length > 0 ? failed.map(({ fullName }) => `${name}: ${fullName}`) : [name];
}
