import { parse } from 'yaml';
import { STOP_LIMITS_MS, parseConfig } from '../../src/config';
import { text } from '../guards/repository';

interface Service {
  build?: unknown;
  stop_grace_period?: string;
}

const { services } = parse(text('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> };
const grace = Object.values(services)
  .filter(({ build }) => build !== undefined)
  .map(({ stop_grace_period = '10s' }) => Number(/^(\d+)s$/.exec(stop_grace_period)?.[1]) * 1000);

it('whoever waits at a stop waits longer than the one it waits for: request, listener, process, supervisor or docker compose', () => {
  const { request, listener, process, supervisor } = STOP_LIMITS_MS;
  const chain = [request, listener, process, supervisor, Math.min(...grace)];
  expect(chain).toEqual([...new Set(chain)].toSorted((one, other) => one - other));
});

it('no request may be given more than is waited for', () => {
  expect(parseConfig({}).API_DEADLINE_MS).toBe(STOP_LIMITS_MS.request);
  expect(() => parseConfig({ API_DEADLINE_MS: String(STOP_LIMITS_MS.request + 1) })).toThrow('API_DEADLINE_MS');
});
