import type { Project } from '../src/db/projects';
import { invalid } from '../src/errors';
import { namesPrivateAddress } from '../src/webhook/address';
import type { Services } from './merchant';

/**
 * Throws a ValidationError when an order names a private address as its webhook_url and the project may not use them. Other names
 * are checked at each connection (rules 13.8).
 */
export function requirePublicWebhook(
  { webhook_private_addresses }: Pick<Services, 'webhook_private_addresses'>,
  { is_test }: Pick<Project, 'is_test'>,
  webhook_url: string | undefined,
): void {
  if (webhook_url === undefined || (is_test && webhook_private_addresses)) return;
  if (namesPrivateAddress(webhook_url)) {
    throw invalid('webhook_url', 'Expected an address of the public internet: webhooks are not sent to private ones.');
  }
}
