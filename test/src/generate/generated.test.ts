import { parseConfig } from '../../../src/config';
import { GENERATED } from '../../../src/generate/generated';

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

describe('a page', () => {
  const { content } = generated('docs/errors.md');
  const page = '# Errors\n\n<!-- generated:errors -->\nold\n<!-- /generated -->\n\nby hand\n';

  test('keeps what is written by hand and fills what is not', () => {
    const filled = content(page);
    expect(filled).toMatch(
      /^# Errors\n\n<!-- generated:errors -->\n\| Error [^]*\| 503 `ServerError` \|[^]*by hand\n$/,
    );
    expect(filled).not.toMatch('old');
  });

  test('is the same when it is generated again', () => {
    expect(content(content(page))).toBe(content(page));
  });

  test('says which place is missing', () => {
    expect(() => content('nothing')).toThrow('there is no <!-- generated:errors -->');
  });
});

test('the OpenAPI document holds pages of docs as chapters, without links that lead nowhere', () => {
  const { info } = JSON.parse(generated('api/openapi.json').content('')) as { info: { description: string } };
  const chapters = info.description.match(/^# [A-Z].*/gm);
  expect(chapters).toEqual(['# Statuses', '# Webhooks', '# Webhook receivers', '# Search', '# Errors', '# Sandbox']);
  expect(info.description).toContain('| 4111 1111 1111 1111 | Every operation is approved. |');
  expect(info.description).not.toMatch(/mermaid|<!--|\]\((?!https:)/);
});
