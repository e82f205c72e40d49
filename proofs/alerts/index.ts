import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { connectDatabase } from '../../src/db/connection';
import { queryRows } from '../../src/db/query';
import { repositoryRoot } from '../../src/stack/files';
import { startReceiver } from '../../test/support/servers';
import { OwnStack } from '../../test/support/stack';
import { until } from '../../test/support/waits';
import type { Proof, ProofInput, ProofOutcome } from '../proof';
import { archiveLog } from '../support/archive';
import { findProgram, runPromtool } from '../support/prometheus';
import { ALERT_FAULTS, type AlertFault, type Scene } from './faults';
import { SteadyLoad } from './load';
import { SeriesRecorder, type Series } from './recorder';
import { ruleTestText, type Recording } from './rule-tests';

const RULES = path.join(repositoryRoot(), 'deploy', 'prometheus');
const TESTS = path.join(RULES, 'tests');
const HEALTHY = 'healthy';
const HEALTHY_MS = 120_000;
/** The healthy stretch before a fault, and the pause after it. Milliseconds. */
const BEFORE_MS = 30_000;
const AFTER_MS = 15_000;
/** Unknown outcomes are polled once a minute after a while. */
const HEALTHY_WITHIN_MS = 180_000;

export const alerts: Proof = {
  name: 'alerts',
  title:
    'Each alert fires on the metrics that a running stack exported during a real fault, and none during a healthy hour.',
  not_proved: [
    'That errors too few for the fast alert of a budget fire the slow one: deploy/prometheus/tests/slow.yml has series written by hand.',
    'The times after which alerts fire: a step of two seconds stands for a minute. Some ages are set: of the oldest unknown outcome, of the rolled key, of the archive and of the check of a backup.',
    'That an alert reaches an operator: Alertmanager is not part of this repository.',
  ],
  seeds: [1],
  in_ci: false,
  run,
};

/**
 * Checks the rules and the committed tests of them. In full it then records a healthy stretch and every fault, and
 * tests the rules with these series; RECORD_ALERTS=1 replaces the committed files by them.
 */
async function run({ size, single, say }: ProofInput): Promise<ProofOutcome> {
  const promtool = findProgram('promtool');
  const violations: string[] = [];
  const check = async (what: string, args: string[]) => {
    await runPromtool(promtool, args).catch((error: unknown) =>
      violations.push(`${what}: ${(error as Error).message}`),
    );
  };
  const files = readdirSync(TESTS).map((file) => path.join(TESTS, file));
  await check('the rules', ['check', 'rules', path.join(RULES, 'recording.yml'), path.join(RULES, 'alerts.yml')]);
  await check('prometheus.yml', ['check', 'config', '--syntax-only', path.join(RULES, 'prometheus.yml')]);
  if (single === undefined) await check('the committed tests', ['test', 'rules', ...files]);
  if (size === 'ci') return { counts: { 'test files': files.length }, violations };

  const folder = process.env['RECORD_ALERTS'] === '1' ? TESTS : mkdtempSync(path.join(tmpdir(), 'alerts-'));
  let recorded = 0;
  let series = 0;
  let fired = 0;
  try {
    await record({ single, say, violations }, async (recording) => {
      const file = path.join(folder, `${recording.name}.yml`);
      writeFileSync(file, ruleTestText(recording, path.relative(folder, RULES)));
      await check(`${recording.name}, repeat it with --case ${recording.name}`, ['test', 'rules', file]);
      recorded += 1;
      series += recording.series.size;
      fired += recording.expected.length;
    });
  } finally {
    if (folder !== TESTS) rmSync(folder, { recursive: true });
  }
  return {
    counts: { recordings: recorded, series, 'alerts that had to fire': fired },
    violations,
  };
}

/** Starts a stack under a steady load, and passes on the series of a healthy stretch and of each fault. */
async function record(
  { single, say, violations }: Pick<ProofInput, 'single' | 'say'> & { violations: string[] },
  onRecorded: (recording: Recording) => Promise<void>,
): Promise<void> {
  const names = namesInRules();
  // The audit compares what was changed a few seconds ago.
  const own = new OwnStack('alerts', () => ({ AUDIT_MARGIN_SECONDS: '5' }));
  const receiver = await startReceiver();
  try {
    const stack = await own.start();
    await archiveLog(own, stack);
    const db = connectDatabase(stack.postgres_url, { pool_max: 2, quiet: true });
    const load = await SteadyLoad.start(stack, receiver.url);
    try {
      const targets = new Map<string, string>(Object.entries(stack.metrics_urls));
      const scene: Scene = { own, stack, db, load, receiver, targets };
      const isChosen = (name: string) => single === undefined || single.split(',').includes(name);
      if (isChosen(HEALTHY)) {
        await untilHealthy(scene);
        const recorder = new SeriesRecorder(stack, names, targets);
        const { steps, series } = await recordWhile(recorder, () => sleep(HEALTHY_MS));
        const what = 'nothing is wrong, and no alert fires.';
        await onRecorded({ name: HEALTHY, what, series, steps, healthy_steps: steps, expected: [] });
      }
      for (const fault of ALERT_FAULTS.filter(({ name }) => isChosen(name))) {
        say(fault.name);
        await recordFault(fault, scene, names).then(onRecorded, (error: unknown) =>
          violations.push(`${fault.name} could not be recorded: ${inspect(error)}`),
        );
      }
    } finally {
      await load.stop();
      await db.destroy();
    }
  } finally {
    await own.discard();
    await receiver.close();
  }
}

/** Waits until nothing is left of the fault before: the stack answers, and no outcome is unknown. */
async function untilHealthy({ own, db }: Scene): Promise<void> {
  await own.ready();
  const unknown = `select 1 from transactions where status = 'processing' limit 1`;
  await until('no outcome is unknown', async () => (await queryRows(db, unknown)).length === 0, HEALTHY_WITHIN_MS);
  await sleep(AFTER_MS);
}

async function recordFault(fault: AlertFault, scene: Scene, names: ReadonlySet<string>): Promise<Recording> {
  await untilHealthy(scene);
  const recorder = new SeriesRecorder(scene.stack, names, scene.targets);
  let healthy_steps = 0;
  const { steps, series } = await recordWhile(recorder, async () => {
    await sleep(BEFORE_MS);
    healthy_steps = recorder.steps;
    await fault.inject(scene);
  });
  return { name: fault.name, what: fault.what, series, steps, healthy_steps, expected: fault.expected };
}

/** Records until `work` ends. A recorder that went on after a failure would keep the process from ending. */
async function recordWhile(
  recorder: SeriesRecorder,
  work: () => Promise<unknown>,
): Promise<{ series: Series; steps: number }> {
  let series: Series;
  recorder.start();
  try {
    await work();
  } finally {
    series = await recorder.stop();
  }
  return { series, steps: recorder.steps };
}

/** The metrics that the rules use, as they are scraped. */
function namesInRules(): Set<string> {
  const text = ['recording.yml', 'alerts.yml'].map((file) => readFileSync(path.join(RULES, file), 'utf8')).join('\n');
  const used = [...text.matchAll(/\b(?:payments|temporal)_\w+/g)].map(([name]) => name);
  return new Set(used);
}
