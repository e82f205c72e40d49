import type { MerchantOperation } from '../merchant';

/** The project of the API key (rules 16.1). */
export const getProject: MerchantOperation<'getProject'> = ({ caller: { project } }) =>
  Promise.resolve({
    id: project.id,
    merchant_id: project.merchant_id,
    name: project.name,
    status: project.status === 'suspended' ? 'suspended' : project.is_test ? 'active-testing' : 'active',
    is_test: project.is_test,
    ...(project.webhook_url === null ? {} : { webhook_url: project.webhook_url }),
    payment_methods: project.payment_methods,
    currencies: project.currencies,
    expiration_period: project.expiration_period,
    transaction_expiration_period: project.transaction_expiration_period,
    capture_expiration_period: project.capture_expiration_period,
    permissions: Object.fromEntries(
      project.payment_methods.map((method) => [`/payment-methods/${method}/`, { POST: project.status === 'active' }]),
    ),
  });
