import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parseConfig } from '../../../../src/config';
import { choosePorts } from '../../../../src/stack/ports';
import { keepRunning } from '../../../../src/stack/programs/program';
import { silent } from '../../../../src/stack/progress';
import { SEARCH_ATTRIBUTES, setUpNamespace, temporalProgram, temporalTool } from '../../../../src/stack/servers/temporal';
import { findTool } from '../../../../src/stack/tools/find-tool';
import * as attributes from '../../../../workflows/search-attributes';

const names = Object.values(attributes).map(({ name }) => name);

test('the server registers the search attributes of the workflows', () => {
  expect(SEARCH_ATTRIBUTES.toSorted()).toEqual(names.toSorted());
});

test('a namespace that an earlier release has made gets the search attributes that came since, once', async () => {
  const data_dir = mkdtempSync(path.join(tmpdir(), 'temporal-'));
  const { TEMPORAL_CLI_PATH, TOOLS_DIR } = parseConfig(process.env);
  const program = await findTool(temporalTool(TEMPORAL_CLI_PATH), { tools_dir: TOOLS_DIR, progress: silent, signal: new AbortController().signal });
  const host = '127.0.0.1';
  const { port = 0, ui_port = 0 } = await choosePorts([{ variable: 'port', host, port: 0 }, { variable: 'ui_port', host, port: 0 }]);
  const server = { program, data_dir, log_file: path.join(data_dir, 'temporal.log'), port, ui_port, codec_url: 'http://127.0.0.1:1', namespace: 'payments' };
  const today = temporalProgram(server);
  const newest = new Set(SEARCH_ATTRIBUTES.slice(2).flatMap((name) => [`${name}=Keyword`]));
  const args = today.args.filter((arg, index) => !newest.has(arg) && !newest.has(today.args[index + 1] ?? ''));
  const kept = keepRunning({ ...today, args }, { started: () => undefined, ended: () => undefined });
  const registered = async () => {
    const list = ['operator', 'search-attribute', 'list', '--namespace', 'payments', '--address', `${host}:${port}`, '--output', 'json'];
    const { stdout } = await promisify(execFile)(program, list);
    return names.filter((name) => stdout.includes(`"${name}"`));
  };
  try {
    await kept.ready;
    expect(await registered()).toEqual(SEARCH_ATTRIBUTES.slice(0, 2));
    await setUpNamespace(server);
    await setUpNamespace(server);
    expect((await registered()).toSorted()).toEqual(names.toSorted());
  } finally {
    await kept.stop();
    rmSync(data_dir, { recursive: true, force: true });
  }
});
