import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { parseConfig } from '../../../../src/config';
import { choosePorts } from '../../../../src/stack/ports';
import { keepRunning } from '../../../../src/stack/programs/program';
import { silent } from '../../../../src/stack/progress';
import {
  EVENTS_SUGGESTED_MAX,
  SEARCH_ATTRIBUTE_NAMES,
  setUpNamespace,
  temporalProgram,
  temporalTool,
} from '../../../../src/stack/servers/temporal';
import { findTool } from '../../../../src/stack/tools/find-tool';
import * as attributes from '../../../../workflows/search-attributes';
import { textOfFile } from '../../../guards/repository';
import { until } from '../../../support/waits';

const names = Object.values(attributes).map(({ name }) => name);

test('the server registers the search attributes of the workflows', () => {
  expect(SEARCH_ATTRIBUTE_NAMES.toSorted()).toEqual(names.toSorted());
});

test('the dev server has the dynamic configuration that docker-compose.yml gives to Temporal', async () => {
  const file = parse(textOfFile('deploy/temporal/dynamic-config.yaml')) as Record<string, [{ value: unknown }]>;
  const server = { program: '', log_file: '', port: 1, ui_port: 2, codec_url: '', namespace: '' };
  await inFolder(async (data_dir) => {
    const { args } = temporalProgram({ ...server, data_dir });
    const flags = args.filter((_, index) => args[index - 1] === '--dynamic-config-value');
    expect(flags).toEqual(Object.entries(file).map(([key, [{ value }]]) => `${key}=${String(value)}`));
    expect(flags).toContain(`limit.historyCount.suggestContinueAsNew=${EVENTS_SUGGESTED_MAX}`);
  });
});

test("the values of Temporal's own chart are the dynamic configuration of docker-compose.yml, for several hosts", () => {
  const file = parse(textOfFile('deploy/temporal/dynamic-config.yaml')) as Record<string, unknown>;
  const of_one_host = Object.keys(file).filter((key) => key.startsWith('matching.numTaskqueue'));
  expect(of_one_host).toHaveLength(2);
  for (const key of of_one_host) delete file[key];
  expect(parse(textOfFile('deploy/temporal/helm-values.yaml'))).toEqual({ server: { dynamicConfig: file } });
});

test.each([
  ['temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)', 'serves', 'ours'],
  ['temporal version 0.0.0-DEV (Server 1.31.2, UI 2.50.1)', 'serves', 'ours'],
  ['temporal version 1.9.1 (Server 1.32.0-rc.1, UI 2.51.0)', 'serves', ''],
  ['temporal version 2.0.0 (Server 2.0.0, UI 3.0.0)', 'serves', ''],
  ['temporal version 1.8.1 (Server 1.31.1, UI 2.50.0)', '', ''],
  ['temporal version 1.8.2 (Server 1.31.2-rc.1, UI 2.50.1)', '', ''],
  ['temporal version 1.5.1 (Server 1.9.9, UI 2.42.1)', '', ''],
  ['a clock, version 9.9.9', '', ''],
])('a program that says %j: %s %s', async (said, serves, ours) => {
  await inFolder(async (folder) => {
    const tool = temporalTool(undefined);
    const program = aProgram(folder, 'temporal', said);
    expect(await tool.serves(program)).toBe(serves !== '');
    expect(await tool.isOurs(program)).toBe(ours !== '');
  });
});

test.each([
  ['go1.25.9', 'Go 1.25.9 is too old'],
  ['go1.26.7', 'Go 1.26.7 is too old'],
  ['go1.26.8', undefined],
  ['go1.26.10', undefined],
  ['go1.27', undefined],
  ['go1.27rc1', undefined],
  ['devel go1.28-0123456789', undefined],
  ['nothing of the kind', 'is too old'],
])('it is built with Go that says %j: %s', async (said, refusal) => {
  const { PATH } = process.env;
  await inFolder(async (folder) => {
    aProgram(folder, 'go', said);
    process.env['PATH'] = `${folder}:${PATH}`;
    const build = async () =>
      temporalTool(undefined).sources.at(-1)?.make(path.join(folder, 'draft'), new AbortController().signal);
    expect(await build().catch((error: Error) => error.message)).toEqual(
      refusal === undefined ? undefined : expect.stringContaining(refusal),
    );
  }).finally(() => (process.env['PATH'] = PATH));
});

/** A program that prints one line, whatever it is asked. */
function aProgram(folder: string, name: string, said: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, `#!/bin/sh\necho '${said}'\n`, { mode: 0o755 });
  return file;
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'temporal-tool-'));
  await work(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}

test('a namespace that an earlier release has made gets the search attributes that came since, once', async () => {
  const data_dir = mkdtempSync(path.join(tmpdir(), 'temporal-'));
  const { TEMPORAL_CLI_PATH, TOOLS_DIR } = parseConfig(process.env);
  const program = await findTool(temporalTool(TEMPORAL_CLI_PATH), {
    tools_dir: TOOLS_DIR,
    progress: silent,
    signal: new AbortController().signal,
  });
  const host = '127.0.0.1';
  const { port = 0, ui_port = 0 } = await choosePorts([
    { variable: 'port', host, port: 0 },
    { variable: 'ui_port', host, port: 0 },
  ]);
  const server = {
    program,
    data_dir,
    log_file: path.join(data_dir, 'temporal.log'),
    port,
    ui_port,
    codec_url: 'http://127.0.0.1:1',
    namespace: 'payments',
  };
  const today = temporalProgram(server);
  const newest = new Set(SEARCH_ATTRIBUTE_NAMES.slice(2).flatMap((name) => [`${name}=Keyword`]));
  const args = today.args.filter((arg, index) => !newest.has(arg) && !newest.has(today.args[index + 1] ?? ''));
  const kept = keepRunning({ ...today, args }, { started: () => undefined, ended: () => undefined });
  const registered = async () => {
    const list = [
      'operator',
      'search-attribute',
      'list',
      '--namespace',
      'payments',
      '--address',
      `${host}:${port}`,
      '--output',
      'json',
    ];
    const { stdout } = await promisify(execFile)(program, list);
    return names.filter((name) => stdout.includes(`"${name}"`));
  };
  try {
    await kept.ready;
    // The server takes calls a moment before it has them.
    await until('the first two are registered', async () => (await registered()).length >= 2);
    expect(await registered()).toEqual(SEARCH_ATTRIBUTE_NAMES.slice(0, 2));
    await setUpNamespace(server, AbortSignal.timeout(60_000));
    await setUpNamespace(server, AbortSignal.timeout(60_000));
    expect((await registered()).toSorted()).toEqual(names.toSorted());
  } finally {
    await kept.stop();
    rmSync(data_dir, { recursive: true, force: true });
  }
});
