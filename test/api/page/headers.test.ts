import { sourceOf } from '../../../api/page/headers';

test.each([
  ['https://shop.example/done', 'https://shop.example'],
  ['http://localhost:8080/done', 'http://localhost:8080'],
  ['http://[::1]:8080/done', 'http:'],
  ["https://a;script-src'*'.example/", 'https:'],
])('a form may lead to %s by the source %s', (address, expected) => {
  expect(sourceOf(address)).toBe(expected);
});
