#!/usr/bin/env node
import { inLines } from '../domain/shown-text';
import { createPaymentsProgram } from '../cli/program';

const program = createPaymentsProgram({
  env: process.env,
  folder: process.cwd(),
  print: (line) => void process.stdout.write(`${line}\n`),
  fail: () => {
    process.exitCode = 1;
  },
});

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(inLines(`payments: ${error instanceof Error ? error.message : String(error)}\n`));
  // Webhooks may still wait for a receiver that is away.
  process.exit(1);
});
