import { GENERATED } from '../../src/generate/generated';
import { textOfFile } from './repository';

it.each(GENERATED)('$file is what npm run generate writes', ({ file, content }) => {
  expect(textOfFile(file)).toBe(content(textOfFile(file)));
});
