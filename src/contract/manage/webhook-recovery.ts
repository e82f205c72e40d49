import type { Route } from '../routes';
import { idInput } from '../scalars';
import { WEBHOOK_RECOVERY_ROUTES, recoverRequestSchema } from '../webhook-recovery';
import { pageQuery } from '../lists';

export const managedRecoverRequestSchema = recoverRequestSchema.extend({
  project_id: idInput().meta({ format: 'uuid' }),
});

const { recoverWebhooks, listWebhookRecoveries, ...others } = WEBHOOK_RECOVERY_ROUTES;

/** Recoveries of the webhooks of projects. */
export const MANAGED_RECOVERY_ROUTES = {
  recoverWebhooks: { ...recoverWebhooks, body: managedRecoverRequestSchema, errors: ['NotFound', 'Conflict'] },
  listWebhookRecoveries: {
    ...listWebhookRecoveries,
    description: 'Recoveries with their progress, newest first; a merchant sees those of its own projects.',
    query: pageQuery({ project_id: idInput().optional().meta({ format: 'uuid' }) }),
  },
  ...others,
} as const satisfies Record<string, Route>;
