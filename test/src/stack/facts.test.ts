import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseConfig } from '../../../src/config';
import { writeVariables } from '../../../src/stack/facts';
import { readVariables } from '../../../src/stack/launch';

const folder = mkdtempSync(path.join(tmpdir(), 'payments-facts-'));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (OTEL_EXPORTER_OTLP_HEADERS: string) =>
  writeVariables({ ...parseConfig({}), DATA_DIR: folder, OTEL_EXPORTER_OTLP_HEADERS } as Parameters<
    typeof writeVariables
  >[0]);

test.each([`a=it's #1`, 'a=`b`', `a='b' "c"`, 'a="b"'])('stack.env has %s as it is', (value) => {
  write(value);
  expect(readVariables(folder)['OTEL_EXPORTER_OTLP_HEADERS']).toBe(value);
});

test('a value that no quotation marks can hold is refused, by the name of its variable', () => {
  expect(() => write(`'"\``)).toThrow('OTEL_EXPORTER_OTLP_HEADERS');
});
