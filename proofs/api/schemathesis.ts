import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '../../src/stack/files';
import { findPythonProgram } from '../support/python';
import type { SchemathesisRequest } from './changes';

/** The program `st`. Throws an Error with the remedy where Python is missing. */
export async function findSchemathesis(say: (line: string) => void): Promise<string> {
  const tools_dir = path.join(repositoryRoot(), '.tools');
  const wanted = { name: 'schemathesis', version: '4.32.5', program: 'st', python: '3.10', tools_dir };
  return await findPythonProgram(wanted, say);
}

/** A host and its document. */
export interface Host {
  name: string;
  /** Path of its OpenAPI document in the repository. */
  document: string;
  url: string;
  /** For hooks.py: the header Authorization, and what makes requests get further than generated ones. */
  env: Record<string, string>;
}

/** How much a run does: its phases, and how many examples of each operation and each sequence it makes. */
export interface RunSize {
  phases: string;
  examples: number;
}

interface RunOptions {
  seed: number;
  amount: RunSize;
  say: (line: string) => void;
}

/** What a run of schemathesis has found. */
export interface Findings {
  requests: SchemathesisRequest[];
  /** Failed checks, each with the call that repeats it. */
  failures: string[];
}

/** The parts of its JSON report that are read here. */
interface Report {
  complete: boolean;
  errors: { title?: string; message?: string }[];
  failures: { code: string; title: string; operations: string[] }[];
}

/** Runs schemathesis against one host. Throws when it does not run to its end. */
export async function runSchemathesis(program: string, host: Host, options: RunOptions): Promise<Findings> {
  const folder = mkdtempSync(path.join(tmpdir(), 'payments-schemathesis-'));
  const [requests, report] = [path.join(folder, 'requests'), path.join(folder, 'report.json')];
  try {
    const { code, output } = await runToEnd(program, argumentsOf(host, options, report), {
      cwd: folder,
      env: {
        ...process.env,
        ...host.env,
        PYTHONPATH: HERE,
        PYTHONDONTWRITEBYTECODE: '1',
        SCHEMATHESIS_HOOKS: 'hooks',
        PROOF_REQUESTS: requests,
      },
    });
    if (!existsSync(report)) throw new Error(`schemathesis ended with code ${code}:\n${output}`);
    const { complete, errors, failures } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    if (!complete) throw new Error(`schemathesis did not run to its end:\n${output}`);
    const lines = readFileSync(requests, 'utf8').trim().split('\n');
    options.say(`${host.name}: ${lines.length} requests, ${failures.length} kinds of failures`);
    return {
      requests: lines.map((line) => JSON.parse(line) as SchemathesisRequest),
      failures: failures.length + errors.length === 0 ? [] : failedChecks(output),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const HERE = path.join(repositoryRoot(), 'proofs', 'api');

const argumentsOf = (host: Host, { seed, amount }: RunOptions, report: string) => [
  ...['--no-color', '--config-file', path.join(HERE, 'schemathesis.toml')],
  ...['run', path.join(repositoryRoot(), host.document), '--url', host.url],
  ...['--phases', amount.phases, '--max-examples', String(amount.examples), '--seed', String(seed)],
  ...['--report', 'json', '--report-json-path', report],
];

/** Runs a program to its end, whatever its code. It is ended with this process. */
async function runToEnd(program: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const end = () => void child.kill();
  process.once('exit', end);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  try {
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once('close', resolve).once('error', reject),
    );
    return { code, output };
  } finally {
    process.off('exit', end);
  }
}

/** Characters of a failure that are shown. */
const SHOWN_MAX = 1_500;

/** The failures and errors as schemathesis prints them, one by one, each below its operation. */
function failedChecks(output: string): string[] {
  const sections = output
    .replace(/^=+ SUMMARY =+$[^]*/m, '')
    .split(/^_{3,} (.+?) _{3,}$/m)
    .slice(1);
  const failures = sections.flatMap((section, index) =>
    index % 2 === 0 ? [] : [`${sections[index - 1]!}: ${section.trim()}`.slice(0, SHOWN_MAX)],
  );
  return failures.length > 0 ? failures : [output.slice(-SHOWN_MAX)];
}
