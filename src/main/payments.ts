#!/usr/bin/env node
import { inLines } from '../domain/shown-text';
import { createPaymentsProgram } from '../cli/program';
import { messageOf } from '../errors';

const program = createPaymentsProgram({
  env: process.env,
  folder: process.cwd(),
  print: (line) => void process.stdout.write(`${line}\n`),
  fail: () => {
    process.exitCode = 1;
  },
});

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(inLines(`payments: ${messageOf(error)}\n`));
  // Webhooks may still wait for a receiver that is away.
  process.exit(1);
});
