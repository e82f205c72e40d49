/** The name under which Temporal knows the workers of all versions. */
export const DEPLOYMENT = 'payments';
