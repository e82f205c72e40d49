import { Command } from 'commander';
import { Webhook } from 'standardwebhooks';
import { inLines } from '../domain/shown-text';
import { checkReceiver, shownReport } from './check';
import { forwardEvents } from './listen';
import { CommandError, cursorFile, findPlace, listenSecret, requireTestProject } from './place';
import { TRIGGERS, trigger } from './trigger';

/** The parts of its process that the program uses. */
export interface PaymentsEnvironment {
  readonly env: NodeJS.ProcessEnv;
  /** The current folder. */
  readonly folder: string;
  /** Prints a line. */
  readonly print: (line: string) => void;
  /** The command failed. */
  readonly fail: () => void;
}

const FORWARD_TO = 'the local address that gets the webhooks';

/** The command `payments`, for developers of merchants' systems: needs nothing but an API key of a test project. */
export function createPaymentsProgram({ env, folder, print: printLine, fail }: PaymentsEnvironment): Command {
  // Outside texts must have no effect on the terminal.
  const print = (line: string) => printLine(inLines(line));
  const program = new Command('payments')
    .description(
      'Tests the webhooks of a test project on your own machine.\n\nPAYMENTS_API_URL and PAYMENTS_API_KEY name the service and the key; without them the stack of npm start in this folder is used.',
    )
    .showHelpAfterError();
  program
    .command('listen')
    .description('Sends the webhooks of the project to a local address, signed, until Ctrl-C.')
    .requiredOption('--forward-to <url>', FORWARD_TO, readUrl)
    .option('--secret <whsec>', 'signs with this secret instead of the one that is printed', readSecret)
    .option('--from-now', 'leave out the webhooks since the last time', false)
    .option('--print-secret', 'print the secret and exit', false)
    .action(async (given: { forwardTo: string; secret?: string; fromNow: boolean; printSecret: boolean }) => {
      const place = findPlace(env, folder);
      const secret = given.secret ?? listenSecret(place);
      if (given.printSecret) return print(secret);
      const { id: project_id, name } = await requireTestProject(place);
      const forward_to = given.forwardTo;
      print(`Listening to ${name} at ${place.url}. Webhooks go to ${forward_to}.`);
      print(`Webhook secret: ${given.secret === undefined ? secret : 'as given'}`);
      const cursor_file = cursorFile(env, { url: place.url, project_id, forward_to });
      return await forwardEvents({ place, forward_to, secret, cursor_file, from_now: given.fromNow, print });
    });
  program
    .command('trigger')
    .description('Makes an order: created, paid with a test card, captured, refunded and so on.')
    .argument('<card or event>', Object.keys(TRIGGERS).join(', '))
    .action(async (name: string) => {
      const { id, status, transactions = [] } = await trigger(findPlace(env, folder), name);
      print(`${id}  ${status}  ${transactions.map((one) => one.status).join(' ')}`.trimEnd());
      print(TRIGGERS[name]!);
    });
  program
    .command('check')
    .description('Checks a webhook receiver with twelve cases; exits with 1 unless all have passed.')
    .option('--receiver <url>', 'the address of the receiver; by default that of the project', readUrl)
    .action(async ({ receiver }: { receiver?: string }) => {
      const report = await checkReceiver(findPlace(env, folder), receiver);
      shownReport(report).forEach(print);
      if (report.result !== 'passed') fail();
    });
  return program;
}

function readSecret(text: string): string {
  try {
    new Webhook(text).sign('', new Date(0), '');
    return text;
  } catch (cause) {
    throw new CommandError('Expected a secret for --secret, as the project shows it: whsec_ and base64.', { cause });
  }
}

function readUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new CommandError(`Expected an address, for example http://127.0.0.1:4000/webhooks, not ${text}.`);
}
