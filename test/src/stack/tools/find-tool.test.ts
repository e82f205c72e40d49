import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { explain } from '../../../../src/stack/failure';
import { createProgress } from '../../../../src/stack/progress';
import { runCommand } from '../../../../src/stack/tools/command';
import { findTool, type ToolSource, type Tool } from '../../../../src/stack/tools/find-tool';

let folder: string;
let said: string;
const PATH = process.env['PATH'];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tools-'));
  said = '';
});
afterEach(() => {
  process.env['PATH'] = PATH;
  rmSync(folder, { recursive: true, force: true });
});

function aProgram(file: string, version: string): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
  return file;
}

const source = (text: string, make: ToolSource['make']): ToolSource => ({ text, make });
const builds = source('building', (draft) => Promise.resolve(void aProgram(draft, 'v2')));
const fails = (reason: string) => source('downloading', () => Promise.reject(new Error(reason)));

function find(tool: Partial<Tool> = {}): Promise<string> {
  return findTool(
    {
      title: 'Clock',
      file: 'clock',
      variable: 'CLOCK_PATH',
      given: undefined,
      name_on_path: 'clock',
      serves: async (program) => /v[2-9]/.test(await runCommand(program, [])),
      isOurs: async (program) => (await runCommand(program, [])).trim() === 'v2',
      sources: [builds],
      remedy: 'Or set CLOCK_PATH.',
      ...tool,
    },
    {
      tools_dir: path.join(folder, 'tools'),
      progress: createProgress((text) => (said += text)),
      signal: new AbortController().signal,
    },
  );
}

test('found in this order: the variable, PATH, the tools folder, then made', async () => {
  const inTools = path.join(folder, 'tools', 'clock');
  expect(await find()).toBe(inTools);
  expect(said).toContain('building: done in');
  expect(await find({ sources: [] })).toBe(inTools);
  const onPath = aProgram(path.join(folder, 'bin', 'clock'), 'v3');
  process.env['PATH'] = `${path.dirname(onPath)}:${PATH}`;
  expect(await find()).toBe(onPath);
  const given = aProgram(path.join(folder, 'mine'), 'v4');
  expect(await find({ given })).toBe(given);
});

test('a wrong variable is an error, a program too old on PATH is passed over', async () => {
  const old = aProgram(path.join(folder, 'bin', 'clock'), 'v1');
  await expect(find({ given: old })).rejects.toThrow(
    `CLOCK_PATH is ${old}, which is no Clock or too old: correct it, or leave it out.`,
  );
  process.env['PATH'] = `${path.dirname(old)}:${PATH}`;
  expect(await find()).toBe(path.join(folder, 'tools', 'clock'));
  expect(said).toContain(`${old} is passed over`);
});

test('what another version or an interrupted build left is replaced', async () => {
  aProgram(path.join(folder, 'tools', 'clock'), 'v1');
  writeFileSync(path.join(folder, 'tools', 'clock.draft-1'), 'half');
  const made = await find({ sources: [fails('not reachable'), builds] });
  expect(await runCommand(made, [])).toBe('v2\n');
  expect(readdirSync(path.join(folder, 'tools'))).toEqual(['clock']);
});

test('when nothing works one line says why and what to do, and nothing is left behind', async () => {
  const sources = [fails('not reachable'), source('building', () => Promise.reject(new Error('Go is not installed')))];
  await expect(find({ sources })).rejects.toThrow('No Clock: not reachable; Go is not installed. Or set CLOCK_PATH.');
  expect(readdirSync(path.join(folder, 'tools'))).toEqual([]);
});

test('a program that was made but does not answer is not taken', async () => {
  await expect(
    find({ sources: [source('building', (draft) => Promise.resolve(void aProgram(draft, 'v9')))] }),
  ).rejects.toThrow('does not answer as it should');
});

test('a full disk is named as such', async () => {
  const error = await find({ sources: [fails('write /x: no space left on device'), builds] }).catch(
    (thrown: unknown) => thrown,
  );
  expect(explain(error, '.data')).toMatch(
    /^The disk is full: make room below .*tools and start again \(Clock: write \/x: no space left on device\)\.$/,
  );
});

test('two at once make it once', async () => {
  const make = jest.fn(async (draft: string) => {
    await sleep(1_000);
    aProgram(draft, 'v2');
  });
  await Promise.all([find({ sources: [source('building', make)] }), find({ sources: [source('building', make)] })]);
  expect(make).toHaveBeenCalledTimes(1);
  expect(said).toContain(`process ${process.pid} is making it; waiting`);
});
