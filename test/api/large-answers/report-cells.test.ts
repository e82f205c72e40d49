import fc from 'fast-check';
import { csvOf, reportFileName } from '../../../api/large-answers/report-cells';
import { FIELDS, SEARCH_FIELD_NAMES } from '../../../src/domain/query/fields';

const TEXTS = SEARCH_FIELD_NAMES.filter((field) => FIELDS[field].type === 'text');

/** A row of the report with these texts, one in each text column, and with a negative amount. */
async function rowWith(texts: readonly string[]): Promise<string> {
  const left = [...texts];
  const cells = SEARCH_FIELD_NAMES.map((field) => {
    if (field === 'amount') return '-5';
    return FIELDS[field].type === 'text' ? (left.shift() ?? null) : field === 'id' ? 'an-id' : null;
  });
  return String(await csvOf([{ texts: cells }]));
}

/**
 * Rows and cells as a spreadsheet reads them: quotation marks count at the start of a cell only, and what follows the
 * closing one belongs to the cell.
 */
function readBy(separator: string, csv: string): string[][] {
  const rows: string[][] = [[]];
  let at = 0;
  while (at < csv.length) {
    let cell = '';
    if (csv[at] === '"') {
      const [whole, quoted = ''] = /^"((?:[^"]|"")*)(?:"|$)/.exec(csv.slice(at))!;
      cell = quoted.replaceAll('""', '"');
      at += whole.length;
    }
    while (at < csv.length && csv[at] !== separator && csv[at] !== '\r' && csv[at] !== '\n') cell += csv[at++];
    rows.at(-1)!.push(cell);
    if (csv[at] === '\r' || csv[at] === '\n') rows.push([]);
    at += csv[at] === '\r' && csv[at + 1] === '\n' ? 2 : 1;
  }
  return rows.filter((row) => row.length > 0);
}

const isNumber = (cell: string) => /^"*[+-]?\d+(?:\.\d+)?"*$/.test(cell);
const mayRun = (cell: string) => /^["\s\p{Cf}]*[=+\-@＝＋－＠]/u.test(cell) && !isNumber(cell);

/** The cells that a spreadsheet could run, by the separator it reads with. */
async function formulasOf(...texts: string[]): Promise<Record<string, string[]>> {
  const csv = await rowWith(texts);
  const found = [',', ';', '\t'].map((separator) => {
    const cells = readBy(separator, csv).flat();
    // A column that was read raw is split again at its commas: Text to Columns.
    const again = separator === ',' ? [] : cells.flatMap((cell) => readBy(',', cell).flat());
    return [JSON.stringify(separator), [...cells, ...again].filter(mayRun)] as const;
  });
  return Object.fromEntries(found.filter(([, cells]) => cells.length > 0));
}

const RUN = '=HYPERLINK(A1)';

test.each([
  RUN,
  `\n${RUN}`,
  `\r\n${RUN}`,
  `\t${RUN}`,
  ` \u200e"${RUN}`,
  `＝1+1`,
  '＋1+1',
  '－1+1',
  '＠SUM(1)',
  `a;${RUN};b`,
  `a\t${RUN}`,
  `a\n${RUN}`,
  `a\r\n${RUN}`,
  `a\r\n\r\n${RUN}`,
  `a\u00a0; "${RUN}"`,
  `a;＝1+1`,
  `a;"x",${RUN},"y"`,
  `a\nb,${RUN},c`,
  `"a";"${RUN}`,
])('rules 20.26: %j begins a formula with no separator', async (text) => {
  expect(await formulasOf(text)).toEqual({});
  expect(await formulasOf('x;', text, text)).toEqual({});
});

test('rules 20.26: no text does, whatever it is made of', async () => {
  const piece = fc.constantFrom(';', ',', '\t', '\n', '\r', '\r\n', '"', "'", ' ', '=1', '-', '+', '@', '＝', 'a', '7');
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 3 }), async (texts) => {
      expect(await formulasOf(...texts)).toEqual({});
    }),
    { seed: 1_989, numRuns: 1_000 },
  );
});

test('rules 20.26: without the marks, RFC 4180 gives back every text; normal ones and numbers have none', async () => {
  const kept = [
    ...['Two books, -20 %', '€ 10,-', 'a,"b"\r\nc', '-12.5', '+49123', 'x;y', 'a-b@c.example', '1+1=2', "L'Aquila"],
    ...['=1', '\n=1', 'a;\t"=1"', 'a\n\r=1,-2', ''],
  ];
  for (const [n, text] of kept.entries()) {
    const [cells] = readBy(',', await rowWith([text]));
    const cell = cells![SEARCH_FIELD_NAMES.indexOf(TEXTS[0]!)]!;
    expect(n < 9 ? cell : cell.replaceAll("'", '')).toBe(text);
  }
  expect(readBy(',', await rowWith([]))[0]![SEARCH_FIELD_NAMES.indexOf('amount')]).toBe('-5');
});

test('rules 20.26: every text is in quotation marks, nothing else is', async () => {
  const cells = (await rowWith(TEXTS.map(() => 'text'))).trimEnd().split(',');
  expect(SEARCH_FIELD_NAMES.filter((_field, n) => cells[n]!.startsWith('"'))).toEqual(TEXTS);
});

test.each([
  ['Demo Books, test', 'Demo Books, test'],
  ['Bücher (NL) 书店', 'Bücher (NL) 书店'],
  ['../../etc/passwd', 'etc-passwd'],
  ['a\\b:c*d?e"f<g>h|i', 'a-b-c-d-e-f-g-h-i'],
  ["x'; filename=evil.exe;%2e%00", 'x-- filename-evil.exe--2e-00'],
  ['exe.\u202egpj\u001b[31m\r\nX: y', 'exe.-gpj--31m--X- y'],
  ['~$(id)`id`&', '(id)-id--'],
  ['-rf', 'rf'],
  ['...', 'report'],
  ['😀'.repeat(255), 'report'],
  ['書'.repeat(255), '書'.repeat(50)],
])('rules 20.15: the file of a project %j is %j and the day', (project, name) => {
  expect(reportFileName(project, Date.UTC(2026, 0, 15))).toBe(`${name} 2026-01-15.csv`);
});
