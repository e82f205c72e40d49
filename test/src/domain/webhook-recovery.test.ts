import { WEBHOOK_RECOVERY_STATUSES } from '../../../src/domain/transitions';
import {
  afterRecoveryRequest,
  recoveryTimeProblem,
  type WebhookRecoveryRequest,
} from '../../../src/domain/webhook-recovery';
import { NOW } from '../../support/domain';

const DAY = 24 * 60 * 60_000;

test.each<[WebhookRecoveryRequest, Record<string, string>]>([
  ['pause', { running: 'paused', paused: 'is paused already', completed: 'is completed', stopped: 'is stopped' }],
  ['resume', { running: 'is running already', paused: 'running', completed: 'is completed', stopped: 'is stopped' }],
  ['stop', { running: 'stopped', paused: 'stopped', completed: 'is completed', stopped: 'is stopped' }],
])('rules 13.18: %s', (request, expected) => {
  const made = WEBHOOK_RECOVERY_STATUSES.map((status) => {
    try {
      return [status, afterRecoveryRequest(status, request)];
    } catch (error) {
      expect(error).toMatchObject({ error: 'Conflict' });
      return [status, (error as Error).message.replace(/^The recovery |\.$/g, '')];
    }
  });
  expect(Object.fromEntries(made)).toEqual(expected);
});

test.each([
  ['an hour until now', { since: NOW - DAY / 24, until: NOW }, undefined],
  ['an instant, now', { since: NOW, until: NOW }, undefined],
  ['31 days', { since: NOW - 31 * DAY, until: NOW }, undefined],
  ['more', { since: NOW - 31 * DAY - 1, until: NOW }, 'since: Lies more than 31 days before the end of the time.'],
  ['a start in the future', { since: NOW + 1, until: NOW }, 'since: Lies in the future.'],
  ['a start before 1970', { since: -1, until: 0 }, 'since: Lies before 1970.'],
  ['an end before its start', { since: NOW - 1, until: NOW - 2 }, 'until: Lies before since.'],
])('rules 13.16: the time of a recovery: %s', (_title, time, wrong) => {
  const problem = recoveryTimeProblem(time, NOW);
  expect(problem && `${problem.path}: ${problem.text}`).toBe(wrong);
});
