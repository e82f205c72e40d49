import type { Project } from '../src/db/projects';
import { invalid } from '../src/errors';
import { namesPrivateAddress } from '../src/webhook/address';
import type { Services } from './merchant';

const NOT_ACTIVE = 'The payment method is not active for the project or does not exist.';

/** Throws a ValidationError for a currency or a payment method that the project has not activated (rules 5.2). */
export function requireProjectAccepts(
  project: Pick<Project, 'currencies' | 'payment_methods'>,
  { currency, payment_methods = [] }: { currency: string; payment_methods?: readonly string[] | undefined },
): void {
  if (!project.currencies.includes(currency)) throw invalid('currency', 'The project does not support this currency.');
  const inactive = payment_methods.findIndex((method) => !project.payment_methods.includes(method));
  if (inactive !== -1) throw invalid(`payment_methods.${inactive}`, NOT_ACTIVE);
}

/** Throws a ValidationError that names `path` for a payment method that the project has not activated. */
export function requireActiveMethod(
  project: Pick<Project, 'payment_methods'>,
  path: string,
  payment_method: string,
): void {
  if (!project.payment_methods.includes(payment_method)) throw invalid(path, NOT_ACTIVE);
}

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
