import globalSetup from '../../test/support/global-setup';
import { repositoryRoot } from '../../src/stack/files';
import type { Proof, ProofInput, ProofOutcome } from '../proof';
import { applies, applyPatch, commandOf, readMutants, type Mutant, type NamedProof, type NamedTest } from './patches';
import { Tree, type TestResult } from './tree';

/** Known bugs, put back one at a time: a test or a proof has to fail for each. */
export const mutants: Proof = {
  name: 'mutants',
  title:
    'A bug that real payment systems had, put back into this one, makes a named test or proof fail: each of the patches.',
  not_proved: [
    'Bugs that no patch describes. The proof `mutation` changes the decisions of `src/domain` at random, nothing else is changed at random.',
    'That each bug would be found by a person who reads the failed test.',
  ],
  seeds: [1],
  in_ci: true,
  run,
};

/** What a mutant's test needs. Journeys talk to processes that run the changed code; all others load it themselves. */
type Needs = 'nothing' | 'servers' | 'processes';

function needsOf({ file }: NamedTest): Needs {
  if (/^test\/src\/(domain\/|ids)/.test(file)) return 'nothing';
  return /^test\/(journeys|api\/page)\//.test(file) ? 'processes' : 'servers';
}

const isTested = (mutant: Mutant): mutant is Mutant<NamedTest> => 'file' in mutant.must_fail;
const isProved = (mutant: Mutant): mutant is Mutant<NamedProof> => 'proof' in mutant.must_fail;

/** Run from end to end in CI, where all patches are checked to apply. */
const IN_CI = 2;

async function run({ single, size, say }: ProofInput): Promise<ProofOutcome> {
  const all = readMutants();
  const violations = all
    .filter((mutant) => !applies(mutant, repositoryRoot()))
    .map(({ name }) => `${name}.patch does not apply to the source`);
  const chosen = chooseMutants(all, { single, size });
  if (violations.length > 0 || chosen.length === 0) {
    if (chosen.length === 0) throw new Error(`no patch has the number ${single}`);
    return { counts: { patches: all.length, caught: 0 }, violations };
  }
  const tree = new Tree();
  const servers = new SharedServers();
  const caught: Mutant[] = [];
  const judge = async (mutant: Mutant, survival: () => Promise<string | undefined>) => {
    const survived = await withBug(tree, mutant, survival);
    say(`${mutant.name}: ${survived ?? 'caught'}`);
    if (survived === undefined) caught.push(mutant);
    else violations.push(`${mutant.name} ${survived}; repeat it with --case ${mutant.number}`);
  };
  try {
    for (const mutant of chosen.filter(isProved)) await judge(mutant, () => proofPasses(tree, mutant.must_fail));
    for (const needs of ['nothing', 'processes', 'servers'] as const) {
      const group = chosen.filter(isTested).filter(({ must_fail }) => needsOf(must_fail) === needs);
      if (group.length === 0) continue;
      await tree.build();
      if (needs === 'servers') await servers.start();
      violations.push(...(await withoutBugs(tree, group, needs)));
      for (const mutant of group) await judge(mutant, () => testPasses(tree, mutant.must_fail, needs));
    }
  } finally {
    await servers.stop();
    tree.remove();
  }
  return {
    counts: { patches: all.length, 'bugs put back': chosen.length, caught: caught.length },
    violations,
    details: detailsOf(chosen, caught),
  };
}

function chooseMutants(all: readonly Mutant[], { single, size }: Pick<ProofInput, 'single' | 'size'>): Mutant[] {
  const numbers = single?.split(',').map(Number);
  if (numbers !== undefined) return all.filter(({ number }) => numbers.includes(Number(number)));
  return size === 'full'
    ? [...all]
    : all
        .filter(isTested)
        .filter(({ must_fail }) => needsOf(must_fail) === 'nothing')
        .slice(0, IN_CI);
}

/** Runs the tests of the group on the source as it is: each has to exist and to pass. Returns violations. */
async function withoutBugs(tree: Tree, group: readonly Mutant<NamedTest>[], needs: Needs): Promise<string[]> {
  const tests = group.map(({ must_fail }) => must_fail);
  const results = await tree.test(tests, needs === 'processes' ? 'own' : 'none');
  return [...new Set(tests.map(commandOf))].flatMap((command) => {
    const mine = resultsOf(
      results,
      tests.find((test) => commandOf(test) === command)!,
    );
    if (mine.length === 0) return [`${command}: no test has this title`];
    return mine.every(({ status }) => status === 'passed') ? [] : [`${command} fails without any bug`];
  });
}

/** Puts the bug back and judges it: undefined when what has to fail has failed; otherwise what happened. */
async function withBug(
  tree: Tree,
  mutant: Mutant,
  survival: () => Promise<string | undefined>,
): Promise<string | undefined> {
  applyPatch(mutant, tree.folder, 'apply');
  try {
    await tree.build();
    return await survival();
  } catch (error) {
    return `could not be judged: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    applyPatch(mutant, tree.folder, 'reverse');
  }
}

/** Undefined when the test fails as it should. */
async function testPasses(tree: Tree, test: NamedTest, needs: Needs): Promise<string | undefined> {
  const results = await tree.test([test], needs === 'processes' ? 'own' : 'none');
  const failed = resultsOf(results, test).filter(({ status }) => status === 'failed');
  if (failed.length === 0) return `survived: ${commandOf(test)} passes with it`;
  // A set-up that breaks says nothing about the bug. Tests of the domain have none.
  return needs === 'nothing' || failed.some(({ messages }) => IS_ASSERTION.test(messages))
    ? undefined
    : `failed for another reason: ${failed[0]!.messages.split('\n')[0]}`;
}

/** Undefined when the proof reports the violation that it should. */
async function proofPasses(tree: Tree, proof: NamedProof): Promise<string | undefined> {
  const violations = await tree.prove(proof);
  if (violations.length === 0) return `survived: ${commandOf(proof)} finds nothing`;
  return violations.some((violation) => violation.includes(proof.violation))
    ? undefined
    : `failed for another reason: ${violations[0]}`;
}

/** A matcher of jest, or `until` of the tests. */
const IS_ASSERTION = /expect\(|not within \d+ ms/;

const resultsOf = (results: readonly TestResult[], { file, title }: NamedTest) =>
  results.filter((result) => result.file === file && new RegExp(title).test(result.title));

const detailsOf = (chosen: readonly Mutant[], caught: readonly Mutant[]): string =>
  chosen
    .map((mutant) => {
      const by = caught.includes(mutant) ? nameOf(mutant.must_fail) : 'nothing';
      return `- ${mutant.name}. ${mutant.bug} Caught by ${by}.`;
    })
    .join('\n');

const nameOf = (it: NamedTest | NamedProof): string =>
  'file' in it ? `\`${it.file}\`, "${it.title}"` : `the proof \`${it.proof}\`, "${it.violation}"`;

/** The servers of `npm test`, started once: most tests load the changed code themselves and need only these. */
class SharedServers {
  private running = false;

  async start(): Promise<void> {
    await globalSetup();
    this.running = true;
  }

  async stop(): Promise<void> {
    if (this.running) await (globalThis as { discardTestStack?: () => Promise<void> }).discardTestStack?.();
  }
}
