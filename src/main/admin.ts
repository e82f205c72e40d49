import { inLines } from '../domain/shown-text';
import { commandConfig } from '../admin/config';
import { createAdminProgram } from '../admin/program';
import { messageOf } from '../errors';

const program = createAdminProgram({
  config: () => commandConfig(process.env),
  print: (text) => void process.stdout.write(text),
  fail: () => {
    process.exitCode = 1;
  },
});

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(inLines(`admin: ${messageOf(error)}\n`));
  process.exitCode = 1;
});
