import { z } from 'zod';
import { DELIVERY_STATUSES } from '../../domain/transitions';
import { REDELIVER_DESCRIPTION, deliveryParams, deliverySchema } from '../delivery';
import type { Route } from '../routes';
import { idInput, instantParam } from '../scalars';
import { pageQuery, pageSchema } from '../lists';

export const deliveryPageSchema = pageSchema(deliverySchema);

/** An operator's action on a delivery. */
const action = {
  method: 'post',
  params: deliveryParams,
  output: deliverySchema,
  ignores_if_match: true,
  errors: ['NotFound', 'Conflict'],
} as const;
const WAITING = 'Conflict when the delivery is final, paused, or being sent at this moment.';

export const DELIVERY_ROUTES = {
  listDeliveries: {
    method: 'get',
    path: '/v1/webhook-deliveries/',
    summary: 'List webhook deliveries',
    description: 'Deliveries with their attempts, newest first; a merchant sees those of its own projects.',
    query: pageQuery({
      project_id: idInput().optional().meta({ format: 'uuid' }),
      order_id: idInput().optional().meta({ format: 'uuid' }),
      status: z.enum(DELIVERY_STATUSES).optional(),
      since: instantParam().optional().describe('Deliveries that were created from this instant on.'),
    }),
    output: deliveryPageSchema,
  },
  getDelivery: {
    method: 'get',
    path: '/v1/webhook-deliveries/{id}/',
    summary: 'Get a webhook delivery',
    description: 'A delivery with its attempts.',
    params: deliveryParams,
    output: deliverySchema,
    errors: ['NotFound'],
  },
  redeliver: {
    ...action,
    path: '/v1/webhook-deliveries/{id}/redeliver/',
    summary: 'Redeliver a webhook',
    description: REDELIVER_DESCRIPTION,
    success: 201,
  },
  deliverNow: {
    ...action,
    path: '/v1/webhook-deliveries/{id}/deliver-now/',
    summary: 'Deliver a webhook now',
    description: `Makes the next of the ten attempts at once. ${WAITING}`,
  },
  pauseDelivery: {
    ...action,
    path: '/v1/webhook-deliveries/{id}/pause/',
    summary: 'Pause a webhook delivery',
    description: `Makes no further attempt until the delivery is resumed. ${WAITING}`,
  },
  resumeDelivery: {
    ...action,
    path: '/v1/webhook-deliveries/{id}/resume/',
    summary: 'Resume a webhook delivery',
    description:
      'Goes on with the attempts that are left of the ten: the next is made at its time, or at once when that has passed. Conflict when the delivery is not paused.',
  },
} as const satisfies Record<string, Route>;
