import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { ROOT, code, files, linesWith, textOfFile } from './repository';

const OURS = ['src', 'workflows', 'activities', 'api', 'test'];
/** Written by package managers: nobody's words. */
const LOCKS = /(^|\/)(package-lock\.json|go\.sum)$/;
const documents = () => files().filter((file) => !LOCKS.test(file) && !/\.(png|ico|woff2|gz)$/.test(file));
const found = (among: readonly string[], pattern: RegExp) => among.flatMap((file) => linesWith(file, pattern));
const escape = (words: string) => words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

it('nothing is left for later', () => {
  expect(found(documents(), new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME'].join('|')})\\b`))).toEqual([]);
});

it('every test runs, none runs alone', () => {
  const chosen = /\b(it|test|describe)(\.\w+)*\.(only|skip|todo|failing)\b|\b(fit|xit|xtest|fdescribe|xdescribe)\(/;
  expect(found(code('test'), chosen)).toEqual([]);
});

it('code writes to the log, not to the console', () => {
  // This folder's own tests hold what they refuse.
  const own = code(...OURS).filter((file) => !file.startsWith('test/guards/'));
  expect(found(own, /\bconsole\.\w+\(/)).toEqual([]);
});

it('names say what is done or returned', () => {
  const riddles =
    /\b(toldToAsk|untold|unheard|isUnheard|isSilence|isAway|isOver|isDue|hasEnded|isPastEnd|takeIn|hurry|caretaker|tellNews|heldUpPast)\b|\bbecame\(/i;
  const own = code(...OURS).filter((file) => !file.startsWith('test/guards/'));
  expect(found(own, riddles)).toEqual([]);
});

/**
 * Files whose exported names may be those of others: the generated clients and the use cases have the names of the
 * operations that they carry out, and every migration is called `up`.
 */
const NAMED_ELSEWHERE = /^(src\/client|api\/operations|api\/manage\/operations|src\/db\/migrations)\//;

it('no name is exported by two files', () => {
  const files_of = new Map<string, string[]>();
  for (const file of code(...OURS, 'proofs').filter((one) => !NAMED_ELSEWHERE.test(one))) {
    const exported = textOfFile(file).matchAll(
      /^export (?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm,
    );
    for (const name of new Set([...exported].map(([, found]) => found!))) {
      files_of.set(name, [...(files_of.get(name) ?? []), file]);
    }
  }
  expect([...files_of].filter(([, found]) => found.length > 1)).toEqual([]);
});

it('present means to make an answer; for the value of now the word is current', () => {
  const own = code(...OURS).filter((file) => !file.startsWith('test/guards/'));
  expect(found(own, /\bthe present\b|\b(const|let) present\b|\bpresentSigningKey\b/i)).toEqual([]);
});

it('the domain takes time and ids as arguments', () => {
  expect(
    found(
      code('src/domain'),
      /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\b|\bTemporal\.Now\b|\bprocess\./,
    ),
  ).toEqual([]);
});

it('workflows roll no dice; Temporal replaces their clock', () => {
  expect(found(code('workflows'), /\brandomUUID\b|\bprocess\.|\bnode:/)).toEqual([]);
});

it('a workflow asks its clock for the time', () => {
  const others = code('workflows').filter((file) => file !== 'workflows/object/clock.ts');
  expect(found(others, /\bDate\.now\(|\bnew Date\(\)/)).toEqual([]);
});

it('a workflow waits for time through Waits, which wakes when a clock is advanced', () => {
  const others = code('workflows').filter((file) => file !== 'workflows/object/wait.ts');
  expect(found(others, /\bsleep\(|\bcondition\(.*(summary|_ms|seconds)/)).toEqual([]);
});

it('SQL stores the time it is given', () => {
  expect(found(code('src/db'), /(?<![.`])\bnow\(\)(?!`)|\bcurrent_timestamp\b/i)).toEqual([]);
});

it('no file knows the machine it was written on', () => {
  const here = [ROOT, os.homedir()].filter((folder) => folder.split('/').length > 2).map(escape);
  expect(found(documents(), new RegExp(`(${[...here, '/(home|Users)/[a-z]+'].join('|')})(?![\\w-])`))).toEqual([]);
});

it('no file names a package registry: the machine that installs has its own', () => {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  expect(found(files(), new RegExp(escape(new URL(registry).host)))).toEqual([]);
});
