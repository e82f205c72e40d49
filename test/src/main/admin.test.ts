import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { temporal } from '@temporalio/proto';
import { createAdminProgram } from '../../../src/admin/program';
import { COMMANDS } from '../../../src/admin/commands';
import { parseConfig } from '../../../src/config';
import { MANAGE_API } from '../../../src/contract/manage/manage-api';
import { beginRestore } from '../../../src/db/backups/restores';
import { recordAttention } from '../../../src/db/recovery/attentions';
import { extendPayloadKeyUses, notePayloadKeyUse } from '../../../src/db/builds/payload-key-uses';
import { SOURCE_NAMES } from '../../../src/db/recovery/sources';
import { inspectSchedules, makeSchedules } from '../../../src/temporal/schedules';
import { SANDBOX_CLOCK_TASK_QUEUE, TASK_QUEUE, WEBHOOK_TASK_QUEUE } from '../../../workflows/messages';
import { createTestDatabase, SECRET_KEYS, withDatabaseName } from '../../support/database';
import { Merchant } from '../../support/merchant';
import { answerOfAdmin, runAdmin } from '../../support/admin';
import { Operator } from '../../support/operator';
import { NOBODY } from '../../support/shapes';
import { aStoredOrder } from '../../support/rows';
import { setUp } from '../../support/set-up';
import { stack } from '../../support/stack';
import { inNamespace, temporalOf } from '../../support/temporal-client';
import { until } from '../../support/waits';

/** The command line on the stack of the run (rules 22). */

const CLOSED = '127.0.0.1:1';
const HOUR = 3_600_000;

const run = (args: string[], env: Record<string, string> = {}) => runAdmin(args, { env });
const json = <T = Record<string, string>>(...args: string[]) => answerOfAdmin<T>(args);

test('rules 22.4: from an empty installation to a first order', async () => {
  const merchant = await json('merchant', 'create', '--name', 'Shop', '--country', 'NL', '--default-currency', 'EUR');
  const project = await json('project', 'create', merchant['id']!, '--name', 'Test', '--is-test', 'true');
  const { key } = await json('key', 'create', project['id']!);
  const client = await json(
    'client',
    'create',
    '--name',
    'Shop',
    '--role',
    'merchant',
    '--merchant-id',
    merchant['id']!,
  );
  expect(client['client_secret']).toMatch(/^cs_/);
  const order = await new Merchant(stack(), key).createOrder({ currency: 'EUR' });
  expect(order).toMatchObject({ status: 'new', project_id: project['id'], merchant_id: merchant['id'] });
});

test('rules 22.2: options may be lists, booleans and null', async () => {
  const { id } = await (await Operator.signIn()).aProject();
  const update = (...options: string[]) => json<Record<string, unknown>>('project', 'update', id, ...options);
  const url = 'https://shop.example.com/hooks';
  const changed = await update(
    '--webhook-url',
    url,
    '--payment-methods',
    'credit-card, apple-pay',
    '--account-funding',
    'true',
  );
  expect(changed).toMatchObject({
    webhook_url: url,
    payment_methods: ['credit-card', 'apple-pay'],
    account_funding: true,
  });
  expect(await update('--webhook-url', 'null')).not.toHaveProperty('webhook_url');
});

test('rules 22.2: a refusal says why and fails', async () => {
  expect(await run(['merchant', 'show', NOBODY])).toEqual({ text: 'The merchant does not exist.\n', failed: true });
  const wrong = await run([
    '--json',
    'merchant',
    'create',
    '--name',
    'Shop',
    '--country',
    'UK',
    '--default-currency',
    'EUR',
  ]);
  expect([JSON.parse(wrong.text), wrong.failed]).toEqual([
    { error: 'ValidationError', value: expect.stringMatching(/^country: /) as unknown },
    true,
  ]);
});

test('rules 24.12: what others wrote is printed with its control and format characters escaped', async () => {
  const { id } = await (
    await Operator.signIn()
  ).aProject({
    webhook_url: 'https://shop.example/\u001b[31m\u009b2J\u202egpj\u200b',
  });
  const { text } = await run(['project', 'show', id]);
  expect(text).toContain('  https://shop.example/\\u001b[31m\\u009b2J\\u202egpj\\u200b\n');
  const printed = await run(['--json', 'project', 'show', id]);
  expect(printed.text).toMatch(/^[\n -~]+$/);
  expect(JSON.parse(printed.text)).toMatchObject({
    webhook_url: 'https://shop.example/\u001b[31m\u009b2J\u202egpj\u200b',
  });
});

test('rules 22.2: without --json a list has a line for each field, and says how to go on', async () => {
  const { text } = await run(['merchant', 'list', '--limit', '1']);
  expect(text).toMatch(/^id +[0-9a-f-]{36}\nname +/);
  expect(text).toMatch(/\nMore: --cursor \S+\n$/);
});

test('rules 22.1 and 22.4: what it changes is in the audit trail under ADMIN_USER, or the user', async () => {
  const { id } = await json('merchant', 'create', '--name', 'Shop', '--country', 'NL', '--default-currency', 'EUR');
  const { items } = await json<{ items: { action: string; actor: object }[] }>('audit', 'list', '--object', id!);
  const user = { kind: 'command_line', id: userInfo().username };
  expect(items).toMatchObject([{ action: 'merchant.create', actor: user }]);
  const env = { ADMIN_USER: 'ann@example.com' };
  await runAdmin(['merchant', 'update', id!, '--name', 'Map shop'], { env });
  const changed = await json<{ items: object[] }>('audit', 'list', '--object', id!);
  expect(changed.items).toContainEqual(
    expect.objectContaining({ action: 'merchant.update', actor: { kind: 'command_line', id: 'ann@example.com' } }),
  );
  const unreadable = runAdmin(['doctor'], { env: { ADMIN_USER: '\u001b[31mann' } });
  await expect(unreadable).rejects.toThrow('ADMIN_USER');
  const { kid } = await json('signing-key', 'roll');
  const rolled = await json<{ items: { action: string }[] }>('audit', 'list', '--object', kid!);
  expect(rolled.items.map(({ action }) => action)).toEqual(['signing_key.roll']);
});

describe('rules 22.7: recover --all', () => {
  const database = setUp(() => createTestDatabase());
  const recover = (env: Record<string, string> = {}) =>
    runAdmin(['--json', 'recover', '--all'], { env: { POSTGRES_URL: database.url, ...env } });
  const actions = async () =>
    (await database.db('audit_trail').orderBy('n')).map(({ action }: { action: string }) => action);

  test('prints the checks of each source, and is in the audit trail', async () => {
    const { text, failed } = await recover();
    const counts = JSON.parse(text) as Record<string, object>;
    expect([Object.keys(counts).toSorted(), failed]).toEqual([SOURCE_NAMES.toSorted(), false]);
    expect(counts['authorizations']).toEqual({ checked: 0, restarted: 0, failed: 0 });
    expect(await actions()).toEqual(['recovery.run']);
  });

  test('without Temporal it says so', async () => {
    await aStoredOrder(database.db);
    const { text, failed } = await recover({ TEMPORAL_ADDRESS: '127.0.0.1:9' });
    expect([JSON.parse(text), failed]).toEqual([
      { error: 'ServiceUnavailable', value: 'Temporal does not answer. Run the command again.' },
      true,
    ]);
    expect(await actions()).toEqual(['recovery.run', 'recovery.run']);
  });
});

test('rules 22.1: every operation of the bearer-token host has a command, the changelog excepted, and every command a help', () => {
  const commands = Object.entries(COMMANDS).flatMap(([noun, { operations }]) =>
    Object.entries(operations).map(([verb, operation]) => ({ noun, verb, operation })),
  );
  expect(commands.map(({ operation }) => operation).toSorted()).toEqual(
    Object.keys(MANAGE_API.routes)
      .filter((id) => id !== 'getChangelog')
      .toSorted(),
  );
  const program = createAdminProgram({ config: () => parseConfig({}), print: () => {}, fail: () => {} });
  for (const { noun, verb, operation } of commands) {
    const command = program.commands.find((one) => one.name() === noun)?.commands.find((one) => one.name() === verb);
    expect(command?.helpInformation().replace(/\s+/g, ' ')).toContain(MANAGE_API.routes[operation].summary);
  }
});

describe('rules 22.5: doctor', () => {
  interface Finding {
    check: string;
    result: string;
    problem?: string;
    remedy?: string;
    note?: string;
  }
  const diagnose = async (env: Record<string, string> = {}) => {
    const { text, failed } = await run(['--json', 'doctor'], env);
    const findings = JSON.parse(text) as Finding[];
    return { failed, found: (check: string) => findings.find((one) => one.check === check)!, findings };
  };

  test('finds nothing on a healthy installation', async () => {
    const { failed, findings } = await diagnose();
    expect(findings.filter(({ result }) => result !== 'ok')).toEqual([]);
    expect([failed, findings.length]).toEqual([false, 21]);
    expect(findings.find(({ check }) => check === 'workers')).toMatchObject({
      note: expect.stringMatching(/^\d+ of build 0\.\d+\.\d+\+[0-9a-f]{16}$/),
    });
    expect(findings.find(({ check }) => check === 'lags')!.note).toMatch(
      /^search index \d+ changes, \d+ s; recovery \d+ s; /,
    );
  });

  test.each<[title: string, env: Record<string, string>, check: string]>([
    ['without Postgres', { POSTGRES_URL: `postgres://nobody@${CLOSED}/payments` }, 'postgres'],
    ['without Temporal', { TEMPORAL_ADDRESS: CLOSED }, 'temporal'],
    ['without Meilisearch', { MEILISEARCH_URL: `http://${CLOSED}` }, 'search index'],
    ['without the processor', { PROCESSOR_URL: `http://${CLOSED}` }, 'processor'],
    ['with another PROCESSOR_KEY', { PROCESSOR_KEY: 'another' }, 'processor'],
    ['with other SECRET_KEYS', { SECRET_KEYS: `2:${randomBytes(32).toString('base64')}` }, 'secret keys'],
    ['with wrong PAYLOAD_KEYS', { PAYLOAD_KEYS: 'short' }, 'payload keys'],
  ])('%s it names %s', async (_title, env, check) => {
    const { failed, found, findings } = await diagnose(env);
    expect([failed, found(check).result]).toEqual([true, 'wrong']);
    expect(found(check).problem).toMatch(/\w/);
    expect(found(check).remedy).toMatch(/\w/);
    expect(findings.filter(({ result }) => result === 'wrong')).toEqual([found(check)]);
  });

  test('an empty database, and a trail that somebody can change', async () => {
    const empty = withDatabaseName(stack().postgres_url, 'postgres');
    expect((await diagnose({ POSTGRES_URL: empty })).found('schema')).toMatchObject({
      result: 'wrong',
      problem: 'The database has no schema.',
    });
    const database = await createTestDatabase();
    await database.db.raw('alter table audit_trail disable trigger audit_trail_keep');
    const { found } = await diagnose({ POSTGRES_URL: database.url });
    expect([found('audit trail').result, found('operator').result]).toEqual(['wrong', 'wrong']);
    await database.close();
  });

  test('counts what still needs each key of SECRET_KEYS', async () => {
    const database = await createTestDatabase();
    const next = `next:${randomBytes(32).toString('base64')}`;
    const of = async (SECRET_KEYS: string) =>
      (await diagnose({ POSTGRES_URL: database.url, SECRET_KEYS })).found('secret keys');
    expect(await of(`${SECRET_KEYS},${next}`)).toEqual({
      check: 'secret keys',
      result: 'ok',
      note: 'test: webhook secrets 1; next: nothing needs it',
    });
    // A client whose secret was rolled: the previous one still works. And a rolled API key that has ended.
    await database.db.raw(`
      insert into oauth_clients (client_id, name, role, secret_hash, secret_key_id, previous_secret_hash,
        previous_secret_key_id, previous_expires, created)
      values (gen_random_uuid(), 'c', 'operator', '', 'next', '', 'test', now() + interval '1 hour', now());
      insert into api_keys (id, project_id, secret_hash, secret_key_id, created, rolled, expires)
      select 'a', id, '', 'gone', now(), now(), now() from projects`);
    const rolled = 'client secrets 1, webhook secrets 1';
    expect((await of(`${next},${SECRET_KEYS}`)).note).toBe(`next: client secrets 1; test: ${rolled}`);
    expect(await of(next)).toMatchObject({ result: 'wrong', problem: `SECRET_KEYS lacks test (${rolled}).` });
    await database.close();
  });

  test('counts the workflows that may need each key of PAYLOAD_KEYS', async () => {
    const database = await createTestDatabase();
    const keys = (...ids: string[]) => ids.map((id) => `${id}:${randomBytes(32).toString('base64')}`).join(',');
    const of = async (...ids: string[]) =>
      (await diagnose({ POSTGRES_URL: database.url, PAYLOAD_KEYS: keys(...ids) })).found('payload key use');
    await new Merchant().createOrder();
    await notePayloadKeyUse(database.db, ['new'], 60);
    expect((await of('new', 'old')).note).toBe('new: in use; old: no process has it');
    // Processes have both: it is not known whether the second one was used before.
    await notePayloadKeyUse(database.db, ['new', 'old'], 60);
    await until('Temporal counts the open order', async () =>
      /^new: in use; old, not used since 20\S+Z: [1-9]\d* open and \d+ closed workflows$/.test(
        (await of('new', 'old')).note ?? '',
      ),
    );
    expect(await of('new')).toMatchObject({
      result: 'wrong',
      problem: expect.stringMatching(/^PAYLOAD_KEYS lacks old, not used since .* closed workflows\.$/),
    });
    expect((await of('other')).problem).toMatch(/^PAYLOAD_KEYS lacks new: in use; old, /);
    // A later process with `old` first, and then without any workflow of its time.
    await notePayloadKeyUse(database.db, ['old', 'new'], 60);
    expect((await of('new', 'old')).note).toBe('new: in use; old: in use');
    await database.db('payload_key_uses').where({ key_id: 'old' }).update({ used_until: '2026-01-01' });
    await notePayloadKeyUse(database.db, ['new', 'old'], 60);
    expect((await of('new', 'old')).note).toBe(
      'new: in use; old, not used since 2026-01-01T00:00:00Z: nothing needs it',
    );
    await extendPayloadKeyUses(database.db);
    expect((await of('new')).problem).toMatch(/^PAYLOAD_KEYS lacks old, not used since/);
    await database.close();
  });

  test('loops that are behind, what needs an operator, and a restore that has not ended', async () => {
    const database = await createTestDatabase();
    const { db } = database;
    const lags = async () => (await diagnose({ POSTGRES_URL: database.url })).found('lags');
    expect(await lags()).toMatchObject({ result: 'wrong', problem: expect.stringContaining('recovery has never run') });
    await db.raw(`insert into recovery_progress (source, checked_until) values ('attempts', clock_timestamp())`);
    expect(await lags()).toMatchObject({ result: 'ok' });
    await db.raw(`insert into search_outbox (order_id, changed) values (gen_random_uuid(), now() - interval '1 hour')`);
    expect(await lags()).toMatchObject({ result: 'wrong', problem: expect.stringContaining('1 changes, 36') });
    await recordAttention(db, { kind: 'order', id: 'o' }, 'look here');
    const { found } = await diagnose({ POSTGRES_URL: database.url });
    expect(found('attention')).toMatchObject({ result: 'ok', note: 'order 1: see attention list of the command line' });
    expect(found('restore').result).toBe('ok');
    await db.transaction((trx) => beginRestore(trx, NOBODY, 0, new Date()));
    expect((await diagnose({ POSTGRES_URL: database.url })).found('restore')).toMatchObject({
      result: 'wrong',
      problem: expect.stringMatching(/^A restore began at 20\S+Z?.*: nothing new is accepted until its end\.$/),
      remedy: expect.stringContaining('restore end'),
    });
    await database.close();
  });

  describe('in a namespace of its own', () => {
    const namespace = 'doctor';
    const client = temporalOf({ ...stack(), temporal_namespace: namespace });
    const find = async (check: string, env = {}) =>
      (await diagnose({ TEMPORAL_NAMESPACE: namespace, ...env })).found(check);
    beforeAll(() => inNamespace(namespace));
    afterAll(() => client.connection.close());

    test('no worker polls, or not every task queue is polled, or by one of another build', async () => {
      const OWN = /(?<=of build )\S+/.exec((await diagnose()).found('workers').note!)![0];
      const OTHER = '0.0.9+0123456789abcdef';
      const stop = new AbortController();
      const poll = async (name: string, buildId: string) => {
        const call = () =>
          client.workflowService.pollWorkflowTaskQueue({
            namespace,
            taskQueue: { name },
            identity: `worker of ${buildId}`,
            deploymentOptions: {
              deploymentName: 'payments',
              buildId,
              workerVersioningMode: temporal.api.enums.v1.WorkerVersioningMode.WORKER_VERSIONING_MODE_UNVERSIONED,
            },
          });
        const polled = client.withDeadline(Date.now() + 60_000, () => client.withAbortSignal(stop.signal, call));
        await expect(polled).rejects.toThrow('CANCELLED');
      };
      /** What is found once the polls of these queues are known. */
      const findOnceKnown = (...queues: string[]) =>
        until(`polls of ${queues.join()}`, async () => {
          const finding = await find('workers');
          return !queues.some((queue) => finding.problem?.includes(queue)) && finding;
        });
      expect(await find('workers')).toMatchObject({
        result: 'wrong',
        problem: 'Task queues that no worker polls: payments, webhooks, sandbox-clocks.',
      });
      const polls = [poll(TASK_QUEUE, OWN)];
      try {
        expect(await findOnceKnown('payments')).toMatchObject({
          result: 'wrong',
          problem: 'Task queues that no worker polls: webhooks, sandbox-clocks.',
          remedy: expect.stringContaining('WORKER_ROLES'),
        });
        polls.push(poll(WEBHOOK_TASK_QUEUE, OTHER), poll(SANDBOX_CLOCK_TASK_QUEUE, OTHER));
        expect(await findOnceKnown('webhooks', 'sandbox-clocks')).toMatchObject({
          result: 'wrong',
          problem: `1 of build ${OWN}, 1 of build ${OTHER}; this build is ${OWN}.`,
          remedy: expect.stringContaining('finish the upgrade'),
        });
      } finally {
        stop.abort();
        await Promise.all(polls);
      }
    });

    test('versions that operators choose, and none is current', async () => {
      const off = { DEPLOYMENT_VERSIONING: 'off' };
      expect(await find('current version', off)).toEqual({ check: 'current version', result: 'ok' });
      expect(await find('current version', { DEPLOYMENT_VERSIONING: 'operator' })).toMatchObject({
        result: 'wrong',
        problem: expect.stringMatching(/^No version is current/),
        remedy: expect.stringContaining('deploy current'),
      });
    });

    test('rules 24.21: a version that is current although versions are off', async () => {
      const env = { TEMPORAL_NAMESPACE: namespace, DEPLOYMENT_VERSIONING: 'off' };
      const of = { namespace, deploymentName: 'payments', allowNoPollers: true };
      const off = async (more = {}): Promise<unknown> =>
        JSON.parse((await run(['--json', 'deploy', 'off'], { ...env, ...more })).text);
      await client.workflowService.setWorkerDeploymentCurrentVersion({ ...of, buildId: 'v1' });
      await client.workflowService.setWorkerDeploymentRampingVersion({ ...of, buildId: 'v2', percentage: 10 });
      expect(await find('current version', env)).toMatchObject({
        result: 'wrong',
        problem: 'DEPLOYMENT_VERSIONING is off, and version v1 is current, version v2 is ramping.',
        remedy: expect.stringContaining('deploy off'),
      });
      expect(await off({ DEPLOYMENT_VERSIONING: 'operator' })).toMatchObject({ error: 'Conflict' });
      expect(await off()).toEqual({ before: 'v1', moved: 0 });
      expect(await find('current version', env)).toEqual({ check: 'current version', result: 'ok' });
      // A repeat changes nothing.
      expect(await off()).toEqual({ moved: 0 });
    });

    test('schedules that are missing, paused, overdue or whose last run failed', async () => {
      expect(await find('schedules')).toMatchObject({
        result: 'wrong',
        problem: 'search-index-check does not exist; settlements does not exist; audit does not exist.',
        remedy: expect.stringContaining('start a worker'),
      });
      await makeSchedules(client, 'a build');
      expect(await find('schedules')).toEqual({ check: 'schedules', result: 'ok' });
      await client.schedule.getHandle('settlements').pause('during a test');
      const note = 'settlements was paused by an operator (during a test)';
      expect(await find('schedules')).toEqual({ check: 'schedules', result: 'ok', note });

      const audit = client.schedule.getHandle('audit');
      await audit.trigger();
      const run = await until('it runs', async () => (await audit.describe()).info.recentActions[0]?.action.workflow);
      expect(await find('schedules')).toMatchObject({ result: 'ok' });
      const { faults } = await inspectSchedules(client, Date.now() + 3 * HOUR);
      expect(faults.slice(-2)).toEqual([
        expect.stringMatching(/^audit has been due since \d{4}-/),
        expect.stringMatching(new RegExp(`^${run.workflowId} has been running since \\d{4}-`)),
      ]);
      expect(faults).not.toContainEqual(expect.stringContaining('settlements'));
      await client.workflow.getHandle(run.workflowId).terminate('a test');
      expect(await find('schedules')).toMatchObject({
        result: 'wrong',
        problem: `the last run ${run.workflowId} ended as terminated; ${note}.`,
        remedy: expect.stringContaining('trigger the schedule'),
      });
    });
  });

  test('for people it prints a line for each check, with the remedy below what is wrong', async () => {
    const { text } = await run(['doctor'], { PROCESSOR_URL: `http://${CLOSED}` });
    expect(text).toMatch(/^ok +postgres\n/);
    expect(text).toMatch(/\nwrong +processor +\S.*\n +Start the processor/);
  });
});
