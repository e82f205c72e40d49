import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT, files, text } from '../guards/repository';

const dockerfile = text('Dockerfile');
const steps = (instruction: string) =>
  [...dockerfile.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, rest]) => rest!);
const ignored = text('.dockerignore').split('\n');

it('builds on one pinned image', () => {
  const images = new Set(steps('FROM').map((from) => from.split(' ')[0]!));
  expect([...images]).toEqual([expect.stringMatching(/^node:24\.\d+\.\d+-bookworm-slim$/)]);
});

it('runs npm scripts and programs that exist', () => {
  const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
  const commands = [...steps('RUN'), ...steps('CMD').map((list) => (JSON.parse(list) as string[]).join(' '))];
  for (const command of commands) {
    const script = /^npm run (?:--silent )?(\S+)/.exec(command)?.[1];
    const program = /^node dist\/(\S+)\.js/.exec(command)?.[1];
    if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
    else if (program !== undefined) expect(files()).toContain(`${program}.ts`);
    else expect(command).toMatch(/^npm ci( --omit=\w+)*$/);
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
  const started = [...text('docker-compose.yml').matchAll(/dist\/src\/main\/(\w+)\.js/g)].map(([, name]) => name!);
  expect(named?.toSorted()).toEqual(started.toSorted());
});
