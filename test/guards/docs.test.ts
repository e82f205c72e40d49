import path from 'node:path';
import { ORDER_STATUSES, PAYMENT_LINK_STATUSES, TRANSACTION_STATUSES } from '../../src/domain/transitions';
import { files, textOfFile } from './repository';

const PAGES = files().filter((file) => file.endsWith('.md'));
const README = textOfFile('README.md');

/** What a first visit needs, in this order. */
const SECTIONS = ['Start it', 'Make a payment', 'The map', 'How it is built', 'Change it', 'Links'];

it('README is short, and in its order', () => {
  expect(README.split('\n').length).toBeLessThanOrEqual(200);
  expect(README.match(/^## .*/gm)).toEqual(SECTIONS.map((title) => `## ${title}`));
  for (const command of ['npm ci && npm start', 'npm ci && npm test']) expect(README).toContain(command);
});

it('the map has one line for every folder of the root and of src', () => {
  const folders = new Set(files().flatMap((file) => /^(?:src\/[^./]+|[^./]+)(?=\/)/.exec(file) ?? []));
  const map = README.split('## The map')[1]!.split('\n## ')[0]!;
  const lines = [...map.matchAll(/^\| `([^`]+)` \|/gm)].map(([, folder]) => folder!);
  expect(lines.toSorted()).toEqual(
    [...folders, 'src'].filter((folder, n, all) => all.indexOf(folder) === n).toSorted(),
  );
});

it.each(PAGES)('%s links to files and headings that exist', (file) => {
  const all = files();
  const wrong = [...textOfFile(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].filter(
    ([, link, heading]) => {
      const target = link === '' ? file : path.posix.join(path.posix.dirname(file), link!);
      if (!all.some((one) => one === target || one.startsWith(target.replace(/\/?$/, '/')))) return true;
      return heading !== undefined && !anchorsOf(target).includes(heading);
    },
  );
  expect(wrong.map(([whole]) => whole)).toEqual([]);
});

describe('the questions of users', () => {
  const rules = new Set(
    [...textOfFile('docs/rules.md').matchAll(/^\*\*(\d+\.\d+)\*\*/gm)].map(([, number]) => number!),
  );
  const questions = textOfFile('test/docs/questions.md')
    .split(/^(?=\d+\. )/m)
    .slice(1)
    .map((part) => /^(\d+)\. (.+)\n +Answer: (.+) Asked: (.+)$/m.exec(part)?.slice(1) ?? [part]);

  it('are sixty, each with its places and the threads that ask it', () => {
    expect(questions.map(([number]) => number)).toEqual(Array.from({ length: 60 }, (_, index) => String(index + 1)));
    const thread = /^[\w.-]+\/[\w.-]+#\d+$/;
    expect(questions.filter(([, , , threads = '']) => !threads.split(', ').every((one) => thread.test(one)))).toEqual(
      [],
    );
    expect(new Set(questions.map(([, question]) => question)).size).toBe(60);
  });

  it('are answered at places that exist', () => {
    const wrong = questions.flatMap(([number, , places = '']) =>
      places
        .replace(/\.$/, '')
        .split(', ')
        .filter((place) => {
          const rule = /^rules (\d+\.\d+)$/.exec(place)?.[1];
          if (rule !== undefined) return !rules.has(rule);
          const [, file, heading] = /^`([\w/.-]+)#([\w-]+)`$/.exec(place) ?? [];
          return file === undefined || !anchorsOf(file).includes(heading!);
        })
        .map((place) => `${number}: ${place}`),
    );
    expect(wrong).toEqual([]);
  });
});

/** A merchant whose code does not follow one of these pays or refunds twice, or misses a payment. */
const SENTENCES = [
  ['README.md', 'with a `capture_mode` it has a `captured_amount`'],
  ['README.md', 'Retry the payment, with a new key, only when its transaction is `error`'],
  ['README.md', '-H "Idempotency-Key: $ID-charge-1"'],
  ['README.md', '-H "Idempotency-Key: $ID-refund-1"'],
  ['docs/statuses.md', 'Retry a payment only when its transaction is `error`'],
  ['docs/statuses.md', 'While it is `new`, `pending` or `processing`, wait'],
  ['docs/statuses.md', 'with a `vault_token`, treat it as `processing`'],
  ['docs/statuses.md', 'It has ended only if the answer shows `expired`'],
  ['docs/walkthroughs.md', 'It is cancelled only if the answer shows the status `cancelled`'],
  ['docs/walkthroughs.md', 'unless a change is answered 503 with "The service is being restored"'],
  ['docs/errors.md', 'may have been carried out: retrieve or list the orders before you take a new key'],
  ['docs/search.md', "{ echo 'a page is missing' >&2; break; }"],
  ['api/openapi.json', 'It is cancelled only if the answer shows the status `cancelled`'],
  ['api/openapi.json', 'It has ended only if the answer shows the status `expired`'],
] as const;

it('README and statuses.md say what prevents paying twice', () => {
  const missing = SENTENCES.filter(([file, sentence]) => !textOfFile(file).replace(/\s+/g, ' ').includes(sentence));
  expect(missing).toEqual([]);
});

/** As GitHub makes them from headings. */
function anchorsOf(file: string): string[] {
  return [...textOfFile(file).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

it.each(PAGES)('%s names only npm scripts that exist', (file) => {
  const { scripts } = JSON.parse(textOfFile('package.json')) as { scripts: Record<string, string> };
  const named = [...textOfFile(file).matchAll(/npm run ([a-z][a-z:]*)|npm (start|test)\b/g)].map(
    ([, run, short]) => run ?? short!,
  );
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

it('docs/statuses.md explains every status', () => {
  const explained = textOfFile('docs/statuses.md')
    .split(/^## /m)
    .slice(1)
    .map((part) => [...part.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, status]) => status!).toSorted());
  const wanted = [ORDER_STATUSES, TRANSACTION_STATUSES, PAYMENT_LINK_STATUSES].map((statuses) =>
    [...statuses].toSorted(),
  );
  expect(explained).toEqual(wanted);
});
