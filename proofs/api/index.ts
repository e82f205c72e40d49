import { manager } from '../../src/client/manage';
import { OwnStack, type RunningStack } from '../../test/support/stack';
import type { Proof, ProofInput, ProofOutcome } from '../proof';
import { refusedButStored, requireWatched, watchChanges } from './changes';
import { makePayments } from './payments';
import { proveParsers } from './parsers';
import { findSchemathesis, runSchemathesis, type RunSize, type Host } from './schemathesis';

const EVERYTHING = 'examples,coverage,fuzzing,stateful';
const AMOUNTS: Record<ProofInput['size'], Record<string, RunSize>> = {
  ci: {
    merchant: { phases: 'examples,fuzzing,stateful', examples: 6 },
    manage: { phases: 'examples,fuzzing,stateful', examples: 6 },
  },
  full: { merchant: { phases: EVERYTHING, examples: 240 }, manage: { phases: EVERYTHING, examples: 195 } },
};
/** Requests that a full run sends at least. */
const REQUESTS_LEAST = 10_000;
/** Payments that are made for the requests. */
const PAYMENTS = { ci: 9, full: 60 };

export const api: Proof = {
  name: 'api',
  title:
    'Both hosts answer as their OpenAPI documents say, whatever is sent; nothing that is refused is stored; and parsers read exactly what the rules say.',
  not_proved: [
    "Requests are generated from the documents, so fields and paths that they do not name are sent only where schemathesis adds some. Hosted pages, the token endpoint and the processor's notifications are in no document.",
    "That every valid request is accepted: what a request means (a period, an order's status) is not in the document. The journeys of test/ show it.",
    'Requests run one after another. Those that race are the subject of the proofs linearizable and faults.',
    'Stored means: rows that only a request inserts or changes. An Idempotency-Key keeps refusals on purpose (rules 11.3).',
    'Of the parsers, linear time is measured on a list of hostile texts; other texts may be slower.',
  ],
  seeds: [1],
  in_ci: true,
  async run(input): Promise<ProofOutcome> {
    const { single } = input;
    if (single !== undefined && !['parsers', 'merchant', 'manage'].includes(single)) {
      throw new Error('--case is parsers, merchant or manage');
    }
    const parsers = single === undefined || single === 'parsers' ? proveParsers(input) : { counts: {}, violations: [] };
    if (single === 'parsers') return parsers;
    const hosts = await proveHosts(input);
    return {
      counts: { ...hosts.counts, ...parsers.counts },
      violations: [...hosts.violations, ...parsers.violations],
    };
  },
};

async function proveHosts({ seed, size, single, say }: ProofInput): Promise<ProofOutcome> {
  const program = await findSchemathesis(say);
  const own = new OwnStack('proof-api');
  try {
    const stack = await own.start();
    const hosts = (await hostsOf(stack, PAYMENTS[size])).filter(({ name }) => single === undefined || single === name);
    await watchChanges(stack.postgres_url);
    await requireWatched(stack.postgres_url);
    const found = [];
    for (const host of hosts) {
      const { requests, failures } = await runSchemathesis(program, host, {
        seed,
        amount: AMOUNTS[size][host.name]!,
        say,
      });
      found.push({ requests, failures: failures.map((failure) => `seed ${seed}, case ${host.name}: ${failure}`) });
    }
    const requests = found.flatMap((one) => one.requests);
    const is_whole = size === 'full' && single === undefined;
    const stored = await refusedButStored(stack.postgres_url, requests);
    return {
      counts: {
        requests: requests.length,
        'negative requests': requests.filter(({ mode }) => mode === 'negative').length,
        'requests that succeeded': requests.filter(({ status }) => status < 300).length,
        'operations that succeeded': new Set(requests.flatMap((one) => (one.status < 300 ? one.operation : []))).size,
      },
      violations: [
        ...found.flatMap(({ failures }) => failures),
        ...(is_whole && requests.length < REQUESTS_LEAST
          ? [`seed ${seed}: ${requests.length} requests were sent, ${REQUESTS_LEAST} are the least`]
          : []),
        ...stored.map((change) => `seed ${seed}: refused but stored: ${change}`),
      ],
    };
  } finally {
    await own.discard();
  }
}

/** Merchants first: an operator's requests suspend projects and revoke keys. */
async function hostsOf(stack: RunningStack, payments_count: number): Promise<Host[]> {
  const { manage_url: url, operator_client_id: client_id, operator_client_secret: client_secret } = stack;
  const { headers } = await manager({ url, client_id, client_secret });
  const { payments, vault_token } = await makePayments(stack, payments_count);
  return [
    {
      name: 'merchant',
      document: 'api/openapi.json',
      url: stack.api_url,
      env: {
        PROOF_AUTHORIZATION: `Basic ${Buffer.from(`${stack.test_api_key}:`).toString('base64')}`,
        PROOF_PAYMENTS: JSON.stringify(payments),
        PROOF_VAULT_TOKEN: vault_token,
      },
    },
    {
      name: 'manage',
      document: 'api/manage/openapi.json',
      url,
      env: {
        PROOF_AUTHORIZATION: (headers as Record<string, string>)['Authorization']!,
        PROOF_OWN_CLIENT: client_id,
      },
    },
  ];
}
