import { returnAddress, returnSources } from '../../../api/page/return-address';

const order = { id: 'o-1', project_id: 'p-1', failure_url: null };

test.each([
  ['https://shop.example/done', 'https://shop.example/done?order_id=o-1&project_id=p-1'],
  ['https://shop.example', 'https://shop.example/?order_id=o-1&project_id=p-1'],
  ['https://shop.example/done?cart=7', 'https://shop.example/done?cart=7&order_id=o-1&project_id=p-1'],
  ['https://shop.example/done?', 'https://shop.example/done?order_id=o-1&project_id=p-1'],
  ['https://shop.example/done#thanks', 'https://shop.example/done?order_id=o-1&project_id=p-1#thanks'],
  [
    'https://shop.example/done?a=x%20y+z&a=%26#/app?tab=1',
    'https://shop.example/done?a=x%20y+z&a=%26&order_id=o-1&project_id=p-1#/app?tab=1',
  ],
])('%s gets order_id and project_id, and keeps what is there', (return_url, expected) => {
  expect(returnAddress({ ...order, return_url }, 'completed')).toBe(expected);
});

test.each([
  ['completed', 'https://a.example/', 'https://b.example/', 'https://a.example/'],
  ['cancelled', 'https://a.example/', 'https://b.example/', 'https://b.example/'],
  ['expired', 'https://a.example/', 'https://b.example/', 'https://b.example/'],
  ['error', 'https://a.example/', 'https://b.example/', 'https://b.example/'],
  ['error', 'https://a.example/', null, 'https://a.example/'],
  ['completed', null, 'https://b.example/', undefined],
] as const)('%s with return_url %s and failure_url %s → %s', (ended, return_url, failure_url, expected) => {
  expect(returnAddress({ ...order, return_url, failure_url }, ended)?.split('?')[0]).toBe(expected);
});

test.each([
  ['https://shop.example/done', 'https://shop.example'],
  ['http://localhost:8080/done', 'http://localhost:8080'],
  ['http://[::1]:8080/done', 'http:'],
  ["https://a;script-src'*'.example/", 'https:'],
])('the source of %s is %s', (return_url, expected) => {
  expect(returnSources({ return_url, failure_url: return_url })).toEqual([expected]);
});
