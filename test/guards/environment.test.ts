import { configSchema, parseConfig } from '../../src/config';
import { code, linesWith, textOfFile } from './repository';

const DEFAULTS = parseConfig({});

/** `NAME=value` and `# NAME=value` alike: a variable without a default is commented out. */
function example(): Map<string, string> {
  const lines = [...textOfFile('.env.example').matchAll(/^(?:# ?)?([A-Z][A-Z0-9_]*)=(.*)$/gm)];
  expect(lines.length).toBe(new Set(lines.map(([, name]) => name)).size);
  return new Map(lines.map(([, name, value]) => [name!, value!.trim()]));
}

it('.env.example names the variables of the configuration, in its order', () => {
  expect([...example().keys()]).toEqual(Object.keys(configSchema.shape));
});

it('.env.example shows every default', () => {
  const shown = example();
  const standards: Partial<Record<string, string | number | boolean | readonly string[]>> = {
    ...DEFAULTS,
    DATA_DIR: '.data',
    TOOLS_DIR: '.tools',
  };
  expect(Object.fromEntries(shown)).toEqual(
    Object.fromEntries([...shown.keys()].map((name) => [name, String(standards[name] ?? '')])),
  );
});

it('.env.example says what each variable is for', () => {
  const example = textOfFile('.env.example');
  expect(
    Object.values(configSchema.shape).flatMap(({ description = 'nothing' }) =>
      example.includes(description) ? [] : [description],
    ),
  ).toEqual([]);
});

it('every variable with a unit in its name begins its description with it', () => {
  const units = Object.entries(configSchema.shape).filter(([name]) => /_(MS|SECONDS|BYTES)$/.test(name));
  expect(
    units
      .filter(([, { description }]) => !/^(Milliseconds|Seconds|Bytes) /.test(description ?? ''))
      .map(([name]) => name),
  ).toEqual([]);
});

it('docs/operations.md says how to replace each secret that docker-compose.yml requires', () => {
  const required = [...textOfFile('docker-compose.yml').matchAll(/\$\{(\w*(?:PASSWORD|SECRET|KEYS?))\b:\?/g)];
  expect(required.length).toBeGreaterThan(10);
  const rows = textOfFile('docs/operations.md').split('\n## Keys\n')[1]!.split('\n## ')[0]!;
  const named = [...rows.matchAll(/^\| (.*?) \|/gm)].flatMap(([, keys]) => [...keys!.matchAll(/`(\w+)`/g)]);
  const explained = new Set(named.map(([, name]) => name));
  expect([...new Set(required.map(([, name]) => name))].filter((name) => !explained.has(name!))).toEqual([]);
});

it('the environment is read by the processes alone', () => {
  const found = code('src', 'workflows', 'activities', 'api').filter(
    (file) => !/^src\/(main|stack|bench)\//.test(file),
  );
  expect(found.flatMap((file) => linesWith(file, /process\.env/))).toEqual([]);
});
