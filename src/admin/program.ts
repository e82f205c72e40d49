import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { Command } from 'commander';
import pino from 'pino';
import { createManageOperations } from '../../api/manage/operations/index';
import type { ManageContext, ManageServices } from '../../api/manage/manager';
import { Tokens } from '../../api/manage/tokens';
import { carryOut, type Work } from '../../api/operation';
import { MANAGE_API, type ManageRoutes } from '../contract/manage/manage-api';
import { parseRequest } from '../contract/request';
import { readsOnly } from '../contract/routes';
import { requireSetting, type Config } from '../config';
import { requireReconciled } from '../db/backups/restores';
import { acceptRequest } from '../domain/accepted-request';
import { inLines } from '../domain/shown-text';
import { ServiceError } from '../errors';
import { SERIALIZERS } from '../log';
import { recoverEverything, type CheckCounts } from '../recovery/recovery';
import { SecretKeys } from '../secrets';
import { openProcessor, openTemporal, managePublicUrl, recordPool } from '../processes/connections';
import { notePayloadKey } from '../processes/payload-key-use';
import type { Processor } from '../processor/client';
import type { TemporalClient } from '../temporal/connect';
import { createWorkflowClients, type WorkflowClients } from '../temporal/workflows';
import { ATTENTION_COMMANDS } from './attentions';
import { auditCommand } from './audit-trail';
import { BACKUP_COMMANDS } from './backup';
import { COMMANDS, type CommandRoute } from './commands';
import { DEPLOY_COMMANDS } from './deploy';
import { diagnose } from './doctor';
import { EXPORT_COMMANDS } from './export';
import { optionsOf, fieldsGiven } from './options';
import { OUTCOME_COMMANDS } from './outcomes';
import { reindex } from './reindex';
import { RESTORE_COMMANDS } from './restore';
import { SETTLEMENT_COMMANDS } from './settlements';
import { shownAnswer, shownFindings } from './show';

/** A command that is no operation of the bearer-token host. */
interface OwnCommand {
  verb: string;
  route: CommandRoute;
  run: (services: never, context: ManageContext, input: never) => Promise<unknown>;
  /** Whether an answer means that the command failed. */
  failed?: (answer: never) => boolean;
}

/** The commands that no operation of the bearer-token host has; without a description, of a noun that has others. */
const OWN_COMMANDS: readonly { noun: string; description?: string; commands: readonly OwnCommand[] }[] = [
  { noun: 'attention', commands: ATTENTION_COMMANDS },
  {
    noun: 'outcome',
    description: 'Outcomes that the processor has not given, and setting them.',
    commands: OUTCOME_COMMANDS,
  },
  {
    noun: 'settlement',
    description: 'Settlements that wait for their transactions.',
    commands: SETTLEMENT_COMMANDS,
  },
  { noun: 'backup', description: 'Backups of the record.', commands: BACKUP_COMMANDS },
  { noun: 'restore', description: 'After the record was restored from a backup.', commands: RESTORE_COMMANDS },
  { noun: 'export', description: 'Files for an auditor.', commands: EXPORT_COMMANDS },
  {
    noun: 'deploy',
    description: 'Versions of the workflows, and which of them begins new orders.',
    commands: DEPLOY_COMMANDS,
  },
  {
    noun: 'signing-key',
    description: 'The key that signs access tokens.',
    commands: [
      {
        verb: 'roll',
        route: { summary: 'Replace it', description: 'Tokens already issued stay valid until they expire.' },
        run: rollSigningKey,
      },
    ],
  },
];

const RECOVER: CommandRoute = {
  summary: 'Restart the workflows that Temporal has lost',
  description: 'As the workers do when rows fall due.',
};

/** The parts of its process that the program uses. */
export interface AdminEnvironment {
  /** Read when a command runs, so that help needs none. */
  readonly config: () => Config;
  readonly print: (text: string) => void;
  /** The command failed. */
  readonly fail: () => void;
}

/**
 * `npm run admin -- <noun> <verb>`: the operations of the bearer-token host, with the same code, for users who can read
 * the installation's secrets. Its changes are in the audit trail under the name of the user (rules 22.1).
 */
export function createAdminProgram(given: AdminEnvironment): Command {
  // Outside texts must have no effect on the terminal; JSON keeps its meaning.
  const environment = { ...given, print: (text: string) => given.print(inLines(text)) };
  const program = new Command('admin')
    .description('Manages an installation of the payment service.')
    .showHelpAfterError()
    .option('--json', 'print JSON');
  for (const [noun, { description, operations }] of Object.entries(COMMANDS)) {
    const group = program.command(noun).description(description);
    for (const [verb, operation] of Object.entries(operations)) {
      addCommand(group, verb, MANAGE_API.routes[operation], environment, program, runOperation(operation));
    }
  }
  for (const { noun, description = '', commands } of OWN_COMMANDS) {
    const known = program.commands.find((one) => one.name() === noun);
    const parent = known ?? program.command(noun).description(description);
    for (const { verb, route, run, failed } of commands) {
      addCommand(parent, verb, route, environment, program, run as Run, failed as Failed);
    }
  }
  addCommand(program, 'recover', RECOVER, environment, program, recover, hasFailedChecks as Failed).requiredOption(
    '--all',
    'check all open orders, payment links and webhooks now',
  );
  const { config, print, fail } = environment;
  program
    .command('reindex')
    .description('Rebuilds the search index; the current one answers meanwhile.')
    .option('--check', 'compare it with the database instead, and write again the orders that differ', false)
    .action((options: { check: boolean }) => reindex(config(), options));
  program
    .command('doctor')
    .description('Checks the installation, and says what is wrong and how to fix it.')
    .action(async () => {
      const findings = await diagnose(config(), pino({ level: 'silent' }));
      print(isJson(program) ? `${JSON.stringify(findings, null, 2)}\n` : shownFindings(findings));
      if (findings.some(({ result }) => result !== 'ok')) fail();
    });
  return program;
}

const isJson = (program: Command) => program.opts<{ json?: boolean }>().json === true;

/** The action of a command with its parsed arguments and options; the answer is printed. */
type Run = (services: CommandServices, context: ManageContext, input: unknown) => Promise<unknown>;

/** Whether an answer means that the command failed. */
type Failed = (answer: unknown) => boolean;

interface CommandServices extends ManageServices {
  config: Config;
  client: TemporalClient;
  workflows: WorkflowClients;
  /** The caller closes it. Not every machine with the command line reaches the processor. */
  openProcessor: () => Processor;
}

function addCommand(
  group: Command,
  verb: string,
  route: CommandRoute,
  { config, print, fail }: AdminEnvironment,
  program: Command,
  run: Run,
  failed: Failed = () => false,
): Command {
  const command = group.command(verb).description(`${route.summary}. ${route.description}`);
  const params = Object.keys(route.params?.shape ?? {});
  for (const name of params) command.argument(`<${name}>`);
  const parts = { query: optionsOf(route.query), body: optionsOf(route.body) };
  for (const { flag, type, description } of [...parts.query, ...parts.body]) {
    command.option(`--${flag} <${type}>`, description);
  }
  return command.action(async (...values: unknown[]) => {
    const given = command.opts<Record<string, string>>();
    try {
      const input = parseRequest(route, {
        params: Object.fromEntries(params.map((name, n) => [name, values[n]])),
        query: fieldsGiven(parts.query, given),
        body: fieldsGiven(parts.body, given),
      });
      const answer = await withServices(config(), (services) => run(services, commandContext(services.config), input));
      print(isJson(program) ? `${JSON.stringify(answer, null, 2)}\n` : shownAnswer(answer));
      if (failed(answer)) fail();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      print(isJson(program) ? `${JSON.stringify({ error: error.error, value: error.value })}\n` : `${error.value}\n`);
      fail();
    }
  });
}

async function withServices<T>(config: Config, work: (services: CommandServices) => Promise<T>): Promise<T> {
  const secrets = new SecretKeys(requireSetting(config, 'SECRET_KEYS'));
  const db = recordPool(config, { pool_max: 2 });
  // Lazy: most commands never call it.
  const client = openTemporal(config, pino({ level: 'silent' }));
  const workflows = createWorkflowClients({ client, db });
  try {
    // Where Postgres takes nothing, no command changes anything.
    await notePayloadKey(config, db).catch(() => undefined);
    const { deliveries, webhook_recoveries, erasures, incidents } = workflows;
    const { WEBHOOK_PRIVATE_ADDRESSES: webhook_private_addresses } = config;
    return await work({
      config,
      db,
      secrets,
      deliveries,
      webhook_recoveries,
      erasures,
      incidents,
      workflows,
      webhook_private_addresses,
      client,
      openProcessor: () => openProcessor(config, pino({ level: 'silent' })),
    });
  } finally {
    await client.connection.close();
    await db.destroy();
  }
}

/** Time limit in milliseconds for commands that wait for other systems. */
const DEADLINE_MS = 30_000;

/** A user of the command line: an operator. */
function commandContext({ ADMIN_USER: username = userInfo().username }: Config): ManageContext {
  return {
    caller: {
      id: username,
      log: { user: username },
      actor: { kind: 'command_line', id: username },
      role: 'operator',
    },
    request: acceptRequest({
      request_id: randomUUID(),
      received_at: Date.now(),
      deadline_at: Date.now() + DEADLINE_MS,
    }),
    idempotency_key: undefined,
    spend: () => Promise.resolve(),
    log: pino({ level: 'silent' }),
  };
}

type AnyOperation = (context: ManageContext, input: unknown) => Promise<unknown>;

/** Runs the command of an operation of the bearer-token host. */
const runOperation =
  (id: keyof ManageRoutes): Run =>
  async (services, context, input) => {
    const operation = createManageOperations(services)[id] as unknown as AnyOperation;
    const result = await operation(context, input);
    return readsOnly(MANAGE_API.routes[id]) ? result : await carryOut(result as Work<unknown>);
  };

/** Runs the command `recover --all`. */
async function recover({ db, client, workflows }: CommandServices, context: ManageContext): Promise<CheckCounts> {
  await requireReconciled(db);
  const change = { action: 'recovery.run', object: { kind: 'recovery', id: 'all' } };
  await db.transaction((trx) => auditCommand(trx, context, change));
  const log = pino({ level: 'warn', serializers: SERIALIZERS }, process.stderr);
  return await recoverEverything({ db, client, workflows, log }, Date.now());
}

const hasFailedChecks = (counts: CheckCounts) => Object.values(counts).some(({ failed }) => failed > 0);

/** Runs the command `signing-key roll`. */
async function rollSigningKey(services: CommandServices, context: ManageContext): Promise<{ kid: string }> {
  const tokens = new Tokens({ ...services, issuer: managePublicUrl(services.config) });
  const kid = await tokens.rotate(Date.now(), async (trx, { kid: made, instead_of }) => {
    const change = {
      action: 'signing_key.roll',
      object: { kind: 'signing_key', id: made },
      ...(instead_of !== undefined && { before: { kid: instead_of } }),
      after: { kid: made },
    };
    await auditCommand(trx, context, change);
  });
  return { kid };
}
