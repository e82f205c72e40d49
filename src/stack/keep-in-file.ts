import path from 'node:path';
import { z } from 'zod';
import { StackFailure } from './failure';
import { displayPath, readFileIfExists, writeWhole } from './files';

const keptValues = z.partialRecord(z.string(), z.string());

/**
 * The values by name in a JSON file that only its owner may read. Missing ones are made and written, and are on the disk
 * when this returns: data that are protected with them are written afterwards. Throws a StackFailure when the file is
 * there and cannot be read.
 */
export function keepInFile<Name extends string>(
  file: string,
  makers: Readonly<Record<Name, () => string>>,
): Record<Name, string> {
  const kept = readValues(file);
  const values = Object.entries<() => string>(makers).map(([name, make]) => [name, kept[name] ?? make()]);
  const whole = Object.fromEntries(values) as Record<Name, string>;
  // A file that is whole stays as it is: root would make it its own, and the user of the folder could not read it.
  if (Object.keys(makers).some((name) => kept[name] === undefined)) {
    writeWhole(file, `${JSON.stringify(whole, null, 2)}\n`, { is_durable: true });
  }
  return whole;
}

function readValues(file: string): Partial<Record<string, string>> {
  try {
    const text = readFileIfExists(file);
    return text === undefined ? {} : keptValues.parse(JSON.parse(text));
  } catch (error) {
    // The text of such an error may show the values.
    const reason = (error as NodeJS.ErrnoException).code ?? 'not a JSON object of texts';
    throw new StackFailure(
      `${displayPath(file)} cannot be read (${reason}), and the data beside it need it: restore it and its rights, or remove ${displayPath(path.dirname(file))} to start anew.`,
    );
  }
}
