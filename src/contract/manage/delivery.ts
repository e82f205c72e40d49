import { z } from 'zod';
import { DELIVERY_STATUSES } from '../../domain/transitions';
import { REDELIVER_DESCRIPTION, deliveryParams, deliverySchema } from '../delivery';
import type { Route } from '../routes';
import { idParam, instantParam } from '../scalars';
import { pageQuery, pageSchema } from './lists';

export const deliveryPageSchema = pageSchema(deliverySchema);

export const DELIVERY_ROUTES = {
  listDeliveries: {
    method: 'get',
    path: '/v1/webhook-deliveries/',
    summary: 'List webhook deliveries',
    description: 'Deliveries with their attempts, newest first; a merchant sees those of its own projects.',
    query: pageQuery({
      project_id: idParam().optional().meta({ format: 'uuid' }),
      order_id: idParam().optional().meta({ format: 'uuid' }),
      status: z.enum(DELIVERY_STATUSES).optional(),
      since: instantParam().optional().describe('Deliveries that were created from this instant on.'),
    }),
    output: deliveryPageSchema,
    success: 200,
    errors: [],
  },
  getDelivery: {
    method: 'get',
    path: '/v1/webhook-deliveries/{id}/',
    summary: 'Get a webhook delivery',
    description: 'A delivery with its attempts.',
    params: deliveryParams,
    output: deliverySchema,
    success: 200,
    errors: ['NotFound'],
  },
  redeliver: {
    method: 'post',
    path: '/v1/webhook-deliveries/{id}/redeliver/',
    summary: 'Redeliver a webhook',
    description: REDELIVER_DESCRIPTION,
    params: deliveryParams,
    output: deliverySchema,
    versioned: false,
    success: 201,
    errors: ['NotFound'],
  },
} as const satisfies Record<string, Route>;
