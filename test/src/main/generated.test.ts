import { parseConfig } from '../../../src/config';
import { GENERATED } from '../../../src/main/generated';

const generated = (file: string) => GENERATED.find((entry) => entry.file === file)!;

test('.env.example used as .env changes nothing', () => {
  const lines =
    generated('.env.example')
      .content('')
      .match(/^[A-Z_]+=.*$/gm) ?? [];
  const env = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  expect(parseConfig(env)).toEqual(parseConfig({}));
});

describe('README', () => {
  const empty = ['operations', 'statuses', 'errors']
    .map((name) => `# ${name}\n\n<!-- generated:${name} -->\nold\n<!-- /generated -->\n\nby hand\n`)
    .join('');
  const { content } = generated('README.md');

  test('keeps what is written by hand and fills what is not', () => {
    const filled = content(empty);
    expect(filled.match(/by hand/g)).toHaveLength(3);
    expect(filled).not.toMatch('old');
    expect(filled).toMatch('| `POST /v1/orders/` | Create an order |');
    expect(filled).toMatch(/```mermaid\nstateDiagram-v2\n/);
    expect(filled).toMatch(/\| `ServerError` \| 503 \|/);
  });

  test('is the same when it is generated again', () => {
    expect(content(content(empty))).toBe(content(empty));
  });

  test('says which place is missing', () => {
    expect(() => content('nothing')).toThrow('there is no <!-- generated:operations -->');
  });
});
