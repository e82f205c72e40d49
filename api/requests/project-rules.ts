import type { Project } from '../../src/db/projects/projects';
import { ServiceError, refuseFields } from '../../src/errors';
import { namesPrivateAddress } from '../../src/webhook/address';
import type { MerchantServices } from '../merchant';

export const projectSuspended = () =>
  new ServiceError('Forbidden', 'The project is suspended: it takes no new orders, payment links or payments.');

/** Throws Forbidden for a suspended project (rules 21.10). */
export function requireActive({ status }: Pick<Project, 'status'>): void {
  if (status === 'suspended') throw projectSuspended();
}

/** The fields of a request that depend on the project. */
interface Asked {
  readonly currency?: string | undefined;
  readonly payment_methods?: readonly string[] | undefined;
  readonly transactions?: readonly { readonly payment_method: string }[] | undefined;
  readonly webhook_url?: string | null | undefined;
}

/**
 * Throws a ValidationError that names every field the project does not accept: a currency or a payment method that it
 * has not activated (rules 5.2), and a private address as webhook_url where it may not use one. Names in addresses are
 * checked at each connection (rules 13.8).
 */
export function requireProjectAccepts(
  { webhook_private_addresses }: Pick<MerchantServices, 'webhook_private_addresses'>,
  project: Pick<Project, 'currencies' | 'payment_methods' | 'is_test'>,
  { currency, payment_methods = [], transactions = [], webhook_url }: Asked,
): void {
  const methods = [
    ...payment_methods.map((method, index) => ({ method, path: `payment_methods.${index}` })),
    ...transactions.map(({ payment_method: method }, index) => ({
      method,
      path: `transactions.${index}.payment_method`,
    })),
  ];
  const webhookIsPrivate =
    webhook_url != null && !(project.is_test && webhook_private_addresses) && namesPrivateAddress(webhook_url);
  refuseFields('ValidationError', [
    ...(currency === undefined || project.currencies.includes(currency)
      ? []
      : [
          {
            path: 'currency',
            text: 'The project does not support this currency: GET /v1/merchants/self/projects/self/currencies/ lists those it does.',
          },
        ]),
    ...methods
      .filter(({ method }) => !project.payment_methods.includes(method))
      .map(({ path }) => ({
        path,
        text: `Expected a payment method of the project: ${project.payment_methods.join(', ')}.`,
      })),
    ...(webhookIsPrivate
      ? [
          {
            path: 'webhook_url',
            text: 'Expected an address of the public internet: webhooks are not sent to private ones.',
          },
        ]
      : []),
  ]);
}
