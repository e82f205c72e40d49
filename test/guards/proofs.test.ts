import { applies, commandOf, readMutants } from '../../proofs/mutants/patches';
import { FIGURE, withFigures } from '../../proofs/promises';
import { PROOFS } from '../../proofs/proofs';
import { readResults, reportText } from '../../proofs/report';
import { ROOT, files, textOfFile } from './repository';

const PROMISES = 'docs/promises.md';
const names = PROOFS.map(({ name }) => name);

it('docs/promises.md names every proof, and no other', () => {
  const named = [...textOfFile(PROMISES).matchAll(/npm run proofs -- --only ([\w-]+)/g)].map(([, name]) => name!);
  expect([...new Set(named)].toSorted()).toEqual([...names].toSorted());
});

it('docs/promises.md has the figure of the proof that each row names, from its last full run', () => {
  const rows = textOfFile(PROMISES)
    .split('\n')
    .filter((line) => line.includes('npm run proofs -- --only '));
  expect(rows.length).toBeGreaterThan(names.length);
  const wrong = rows.filter((row) => {
    const [figure] = [...row.matchAll(FIGURE)].map(([, name]) => name);
    return !row.includes(`--only ${figure}\``);
  });
  expect(wrong).toEqual([]);
  expect(withFigures(textOfFile(PROMISES), readResults())).toBe(textOfFile(PROMISES));
});

it('PROOFS.md is what `npm run proofs -- --report` writes', () => {
  expect(reportText(PROOFS, readResults())).toBe(textOfFile('PROOFS.md'));
});

it('docs/promises.md names tests that exist', () => {
  const named = [...textOfFile(PROMISES).matchAll(/npx jest ([^`]+)`/g)].flatMap(([, paths]) => paths!.split(' '));
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((path) => !files().some((file) => file.startsWith(path)))).toEqual([]);
});

it('proofs/README.md has a section for every proof', () => {
  const sections = [...textOfFile('proofs/README.md').matchAll(/^## ([a-z][\w-]*)$/gm)].map(([, name]) => name!);
  expect(names.filter((name) => !sections.includes(name))).toEqual([]);
});

describe('a known bug that is put back', () => {
  const mutants = readMutants();

  it('has a number of its own, twenty and more', () => {
    expect(new Set(mutants.map(({ number }) => number)).size).toBe(mutants.length);
    expect(mutants.length).toBeGreaterThanOrEqual(20);
  });

  it('is a change of the source as it is', () => {
    expect(mutants.filter((mutant) => !applies(mutant, ROOT)).map(({ name }) => name)).toEqual([]);
  });

  it('names a test or proof that exists, and other proofs that exist', () => {
    const titleOf = (file: string) => textOfFile(file).replace(/\s+/g, ' ');
    const wrong = mutants.filter(({ must_fail: it, also }) => {
      const is_there =
        'file' in it ? files().includes(it.file) && titleOf(it.file).includes(it.title) : names.includes(it.proof);
      return !is_there || (also !== undefined && !names.includes(also));
    });
    expect(wrong.map(({ name, must_fail, also }) => `${name}: ${commandOf(must_fail)}, ${also}`)).toEqual([]);
  });
});
