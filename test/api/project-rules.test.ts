import { requirePublicWebhook } from '../../api/project-rules';

test.each([
  ['live', 'allowed', 'http://10.0.0.5/hook', false],
  ['live', 'refused', 'http://localhost/', false],
  ['live', 'refused', 'https://shop.example/', true],
  ['test', 'refused', 'http://[::1]/', false],
  ['test', 'allowed', 'http://127.0.0.1:8080/', true],
  ['test', 'refused', undefined, true],
] as const)('a %s project, private addresses %s, %s: passes %s', (kind, allowed, webhook_url, passes) => {
  const require = () =>
    requirePublicWebhook(
      { webhook_private_addresses: allowed === 'allowed' },
      { is_test: kind === 'test' },
      webhook_url,
    );
  if (passes) expect(require).not.toThrow();
  else {
    expect(require).toThrow(
      expect.objectContaining({
        error: 'ValidationError',
        fields: [expect.objectContaining({ path: 'webhook_url' })],
      }) as Error,
    );
  }
});
