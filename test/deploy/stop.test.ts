import { parse } from 'yaml';
import { STOP_LIMITS_MS, parseConfig } from '../../src/config';
import { WEBHOOK_ATTEMPTS_MAX, webhookTimeLimit } from '../../src/domain/delivery';
import { textOfFile } from '../guards/repository';

interface Service {
  build?: unknown;
  stop_grace_period?: string;
}

const { services } = parse(textOfFile('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> };
const grace = Object.values(services)
  .filter(({ build }) => build !== undefined)
  .map(({ stop_grace_period = '10s' }) => Number(/^(\d+)s$/.exec(stop_grace_period)?.[1]) * 1000);

it('whoever waits at a stop waits longer than the one it waits for: request, listener, process, supervisor or docker compose', () => {
  const { request, listener, activities, process, supervisor } = STOP_LIMITS_MS;
  const { DRAIN_MS } = parseConfig({});
  const chain = [request, listener, activities, process, supervisor, Math.min(...grace)];
  expect(chain).toEqual([...new Set(chain)].toSorted((one, other) => one - other));
  expect(Math.min(...grace)).toBeGreaterThan(DRAIN_MS + supervisor);
});

it('rules 13.5: a worker waits longer than a webhook attempt may take', () => {
  const connecting_and_reading = 2 * webhookTimeLimit(WEBHOOK_ATTEMPTS_MAX);
  expect(STOP_LIMITS_MS.activities).toBeGreaterThan(connecting_and_reading + 1_000);
});

it('no request may be given more than is waited for', () => {
  expect(parseConfig({}).API_DEADLINE_MS).toBe(STOP_LIMITS_MS.request);
  expect(() => parseConfig({ API_DEADLINE_MS: String(STOP_LIMITS_MS.request + 1) })).toThrow('API_DEADLINE_MS');
});
