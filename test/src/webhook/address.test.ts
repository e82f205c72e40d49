import { isPublicAddress, namesPrivateAddress } from '../../../src/webhook/address';

test.each([
  ['8.8.8.8', true],
  ['2001:4860:4860::8888', true],
  ['10.0.0.1', false],
  ['172.16.3.4', false],
  ['192.168.1.1', false],
  ['127.0.0.1', false],
  ['169.254.169.254', false],
  ['0.0.0.0', false],
  ['100.64.0.1', false],
  ['::1', false],
  ['fe80::1', false],
  ['fd00::1', false],
  ['::ffff:10.0.0.1', false],
  ['::7f00:1', false],
  ['64:ff9b::7f00:1', false],
  ['64:ff9b:1::10.0.0.1', false],
  ['::ffff:0:10.0.0.1', false],
  ['2002:7f00:1::1', false],
  ['2002:a00:1::', false],
  ['2001:0:4136:e378:8000:63bf:f5ff:fffe', false],
  ['fec0::1', false],
  ['2001:db8::1', false],
  ['3fff::1', false],
  ['192.0.2.1', false],
  ['198.18.0.1', false],
  ['255.255.255.255', false],
  ['::ffff:8.8.8.8', true],
])('%s is public: %s', (address, expected) => {
  expect(isPublicAddress(address)).toBe(expected);
});

test.each([
  ['https://shop.example/hook', false],
  ['https://8.8.8.8/', false],
  ['https://localhost.example/', false],
  ['https://10.example/', false],
  ['http://10.0.0.5/hook', true],
  ['http://localhost:8080/', true],
  ['http://LocalHost./', true],
  ['http://api.localhost/', true],
  ['http://[::1]/', true],
  ['http://[::ffff:10.0.0.5]/', true],
  ['http://[::7f00:1]/', true],
  ['http://[64:ff9b::10.0.0.1]/', true],
  ['http://[2002:7f00:1::1]/', true],
  ['http://[2606:4700::1111]/', false],
  ['http://[::127.0.0.1]/', true],
  ['http://127.1/', true],
  ['http://2130706433/', true],
  ['http://0x7f.0.0.1./', true],
])('rules 13.8: %s names a private address: %s', (url, expected) => {
  expect(namesPrivateAddress(url)).toBe(expected);
});
