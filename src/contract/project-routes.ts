import { currenciesSchema, projectSchema } from './project';
import type { Route } from './routes';

/** The project of the API key. */
export const PROJECT_ROUTES = {
  getProject: {
    method: 'get',
    path: '/v1/merchants/self/projects/self/',
    summary: 'Get the project',
    description: 'The project of the API key: 200 means that the key works, 401 that it is wrong.',
    output: projectSchema,
    success: 200,
    errors: [],
  },
  listCurrencies: {
    method: 'get',
    path: '/v1/merchants/self/projects/self/currencies/',
    summary: 'List the currencies',
    description: 'The currencies the project supports, by payment method.',
    output: currenciesSchema,
    success: 200,
    errors: [],
  },
} as const satisfies Record<string, Route>;
