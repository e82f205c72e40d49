import { GENERATED } from '../../src/generate/generated';
import { text } from './repository';

it.each(GENERATED)('$file is what npm run generate writes', ({ file, content }) => {
  expect(text(file)).toBe(content(text(file)));
});
