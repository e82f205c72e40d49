import type { Config } from '../config';

/** Address at which merchants and customers reach the API, without a slash at its end. */
export function publicUrl(config: Pick<Config, 'PUBLIC_URL' | 'API_HOST' | 'API_PORT'>): string {
  return (config.PUBLIC_URL ?? `http://${config.API_HOST}:${config.API_PORT}`).replace(/\/$/, '');
}

/** Address at which clients reach the bearer-token host, without a slash at its end. */
export function managePublicUrl(config: Pick<Config, 'MANAGE_PUBLIC_URL' | 'MANAGE_HOST' | 'MANAGE_PORT'>): string {
  return (config.MANAGE_PUBLIC_URL ?? `http://${config.MANAGE_HOST}:${config.MANAGE_PORT}`).replace(/\/$/, '');
}
