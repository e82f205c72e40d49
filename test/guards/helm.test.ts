import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { STOP_LIMITS_MS, configSchema, parseConfig } from '../../src/config';
import { silent } from '../../src/stack/progress';
import { isExecutable, onPath, runCommand } from '../../src/stack/tools/command';
import { findTool, type Tool } from '../../src/stack/tools/find-tool';
import { runGo } from '../../src/stack/tools/go';
import { findPythonProgram, pythonProgramPath } from '../../proofs/support/python';
import * as messages from '../../workflows/messages';
import { ROOT, files, textOfFile } from './repository';

const CHART = 'deploy/helm/payments';
const chart = files().filter((file) => file.startsWith(`${CHART}/`));
const templates = chart
  .filter((file) => file.startsWith(`${CHART}/templates/`))
  .map(textOfFile)
  .join('\n');
const examples = chart.filter((file) => file.startsWith(`${CHART}/ci/`));

/** The processes that the chart starts, as files of src/main. */
const PROCESSES = ['api', 'manage', 'worker', 'codec', 'migrate'];

describe('the chart as it is written', () => {
  it('names only variables of the configuration', () => {
    // Names of variables have an underscore; nothing else of the chart is written so.
    const named = chart.flatMap((file) =>
      [...textOfFile(file).matchAll(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g)].map(([name]) => `${file} ${name}`),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((line) => !Object.hasOwn(configSchema.shape, line.split(' ')[1]!))).toEqual([]);
  });

  it('has every variable that a process requires', () => {
    const sources = [...PROCESSES.map((name) => `src/main/${name}.ts`), 'src/processes/connections.ts']
      .concat(files().filter((file) => /^src\/processes\/(run|serve)-\w+\.ts$/.test(file)))
      .map(textOfFile)
      .join('\n');
    const required = [...sources.matchAll(/requireSetting\(config, '(\w+)'\)/g)].map(([, name]) => name!);
    expect(required).toContain('POSTGRES_URL');
    expect(required.filter((name) => !templates.includes(`"${name}"`))).toEqual([]);
  });

  it('probes paths that exist', () => {
    const probed = new Set([...templates.matchAll(/httpGet: \{ path: (\S+),/g)].map(([, found]) => found!));
    expect([...probed].toSorted()).toEqual(['/health/live', '/health/ready']);
    for (const found of probed) expect(textOfFile('api/http/health.ts')).toContain(`'${found}'`);
  });

  it('starts processes that exist, and nothing that keeps data', () => {
    const named = PROCESSES.filter((name) => templates.includes(`"${name}"`) || templates.includes(`/${name}.js`));
    expect(named).toEqual(PROCESSES);
    for (const name of PROCESSES) expect(files()).toContain(`src/main/${name}.ts`);
    expect(templates).not.toMatch(/StatefulSet|PersistentVolumeClaim|volumeClaimTemplates/);
  });

  it('scales workers by the queues that exist', () => {
    const { TASK_QUEUE, WEBHOOK_TASK_QUEUE, SANDBOX_CLOCK_TASK_QUEUE } = messages;
    expect(templates).toContain(
      `dict "payments" (list "${TASK_QUEUE}" "${SANDBOX_CLOCK_TASK_QUEUE}") "webhooks" (list "${WEBHOOK_TASK_QUEUE}")`,
    );
  });

  it('waits longer for a pod that stops than the pod waits', () => {
    const values = parse(textOfFile(`${CHART}/values.yaml`)) as { terminationGracePeriodSeconds: number };
    const grace_ms = 1_000 * values.terminationGracePeriodSeconds;
    expect(templates).toContain('terminationGracePeriodSeconds: {{ $.Values.terminationGracePeriodSeconds }}');
    expect(grace_ms).toBeGreaterThan(parseConfig({}).DRAIN_MS + STOP_LIMITS_MS.supervisor);
    const probe = /readinessProbe:\n\s+httpGet: .*\n\s+periodSeconds: (\d+)\n\s+failureThreshold: (\d+)/.exec(
      templates,
    );
    expect(1_000 * Number(probe?.[1]) * Number(probe?.[2])).toBeLessThan(parseConfig({}).DRAIN_MS);
  });

  it('has the version of the service', () => {
    const { appVersion } = parse(textOfFile(`${CHART}/Chart.yaml`)) as { appVersion: string };
    expect(appVersion).toBe((JSON.parse(textOfFile('package.json')) as { version: string }).version);
  });
});

interface Container {
  name: string;
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
  envFrom?: { configMapRef: { name: string } }[];
  securityContext: object;
}

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec: {
    replicas?: number;
    /** Of a NetworkPolicy: without `from`, any source reaches the ports. */
    ingress?: { from?: object[]; ports: { port: string }[] }[];
    template: {
      metadata: { labels: Record<string, string> };
      spec: { containers: Container[]; securityContext: object; automountServiceAccountToken: boolean };
    };
  };
}

const TOOLS = path.join(ROOT, '.tools');
const HELM = '4.3.1';
const helmTool: Tool = {
  title: 'Helm',
  file: `helm-${HELM}`,
  variable: 'HELM_PATH',
  given: process.env['HELM_PATH'],
  name_on_path: 'helm',
  serves: async (program) => /v[34]\./.test(await runCommand(program, ['version', '--short'])),
  isOurs: async (program) => (await runCommand(program, ['version', '--short'])).startsWith('v4.3'),
  sources: [
    {
      text: 'building it from its Go module (some minutes, once)',
      make: (draft, signal) =>
        // One package at a time, as other tests run meanwhile.
        runGo({ module: path.join(__dirname, 'helm'), signal }, [
          ...['build', '-p', '1', '-trimpath', '-ldflags', '-s -w', '-o', draft, 'helm.sh/helm/v4/cmd/helm'],
        ]),
    },
  ],
  remedy: 'Install Helm (https://helm.sh).',
};
const VALIDATOR = {
  name: 'kubernetes-validate',
  version: '1.37.0',
  program: 'kubernetes-validate',
  python: '3.9',
  tools_dir: TOOLS,
};

const findHelm = () => findTool(helmTool, { tools_dir: TOOLS, progress: silent, signal: new AbortController().signal });

/** The objects of the chart with a file of values, and with the values of `set` as `--set` has them. */
async function render(helm: string, values: string, set = ''): Promise<Manifest[]> {
  const args = ['template', 'payments', CHART, '--namespace', 'pay', '--values', values, '--set', set];
  const rendered = await runCommand(helm, args, { cwd: ROOT });
  return parseAllDocuments(rendered).flatMap((one) => (one.toJS() as Manifest | null) ?? []);
}

const isInCi = process.env['CI'] === 'true';
const hasHelm = onPath('helm') !== undefined || isExecutable(path.join(TOOLS, helmTool.file));
const hasValidator = isExecutable(pythonProgramPath(VALIDATOR));

// Elsewhere a build of minutes would disturb the tests beside it.
if (hasHelm || (isInCi && onPath('go') !== undefined)) {
  describe.each(examples)('%s', (values) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'payments-helm-'));
    let helm: string;
    let manifests: Manifest[];

    beforeAll(async () => {
      helm = await findHelm();
      manifests = await render(helm, values);
    }, 900_000);
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    const WORKLOADS = ['Deployment', 'WorkerDeployment', 'Job'];
    const workloads = () => manifests.filter(({ kind }) => WORKLOADS.includes(kind));
    const containerOf = ({ spec }: Manifest) => spec.template.spec.containers[0]!;

    it('runs no process where it is stopped, whatever the numbers of each say', async () => {
      const stopped = await render(helm, values, 'stopped=true,api.autoscaling.enabled=true');
      const numbers = stopped.flatMap(({ kind, spec }) => (kind.endsWith('Deployment') ? [spec.replicas] : []));
      expect(numbers).toEqual(Array(workloads().filter(({ kind }) => kind !== 'Job').length).fill(0));
      expect(stopped.filter(({ kind }) => /ScaledObject|Autoscaler/.test(kind))).toEqual([]);
    });

    it('has for a restore a bearer-token host that starts, with what the page of operations sets', async () => {
      const [, set] = /--set (stopped=true\S*)/.exec(textOfFile('docs/operations.md'))!;
      const stopped = await render(helm, values, set);
      const numbers = stopped.flatMap(({ kind, spec }) => (kind.endsWith('Deployment') ? [spec.replicas] : []));
      expect([...new Set(numbers)]).toEqual([0]);
      const manage = stopped.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'payments-manage');
      const settings = stopped.find(({ kind }) => kind === 'ConfigMap')!.data!;
      const own = containerOf(manage!).env.map(({ name, value }) => [name, value ?? '']);
      const given = { ...settings, ...(Object.fromEntries(own) as Record<string, string>) };
      // Without either it does not listen, and `restore begin` has no pod to run in.
      expect(given['TLS_CERT_FILE'] ?? given['TRUSTED_PROXY']).toEqual(expect.stringMatching(/./));
      expect(given['MANAGE_PUBLIC_URL']).toEqual(expect.stringMatching(/^https:/));
    });

    it('passes helm lint', async () => {
      const args = ['lint', '--strict', CHART, '--values', values];
      expect(await runCommand(helm, args, { cwd: ROOT })).toContain('0 chart(s) failed');
    });

    it('gives each process an environment that it accepts', () => {
      const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
      for (const workload of workloads()) {
        const { env, envFrom, name } = containerOf(workload);
        const own = env.flatMap(({ name: variable, value }) => (value === undefined ? [] : [[variable, value]]));
        const given = { ...(envFrom === undefined ? {} : settings), ...(Object.fromEntries(own) as object) };
        expect(() => parseConfig(given)).not.toThrow();
        const names = [...Object.keys(given), ...env.map(({ name: variable }) => variable)];
        expect({ name, missing: compose(name).filter((variable) => !names.includes(variable)) }).toEqual({
          name,
          missing: [],
        });
      }
    });

    it('has secrets in Secrets only', () => {
      const secret = /(PASSWORD|SECRET|KEYS?|HEADERS|POSTGRES_(OWNER_)?URL)$/;
      const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
      const open = workloads().flatMap((workload) =>
        containerOf(workload).env.flatMap(({ name, value }) => (value === undefined ? [] : [name])),
      );
      expect([...Object.keys(settings), ...open].filter((name) => secret.test(name))).toEqual([]);
    });

    it('runs every role of a worker', () => {
      const roles = workloads().flatMap((workload) =>
        containerOf(workload).env.flatMap(({ name, value }) => (name === 'WORKER_ROLES' ? value!.split(',') : [])),
      );
      expect(roles.toSorted()).toEqual(['keeper', 'payments', 'webhooks']);
    });

    it('runs nothing as root, and nothing that writes to its image', () => {
      for (const workload of workloads()) {
        const { securityContext, automountServiceAccountToken } = workload.spec.template.spec;
        expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
        expect(automountServiceAccountToken).toBe(false);
        expect(containerOf(workload).securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    });

    it('gives the Worker Controller the version and the sign-in of a versioned worker', () => {
      const versioned = manifests.filter(({ kind }) => kind === 'WorkerDeployment');
      const connections = manifests.filter(({ kind }) => kind === 'Connection');
      expect(versioned.length).toBe(values.endsWith('/worker-controller.yaml') ? 1 : 0);
      expect(connections.length).toBe(versioned.length);
      for (const { metadata, spec } of versioned) {
        const settings = manifests.find(({ kind }) => kind === 'ConfigMap')!.data!;
        expect(settings).toMatchObject({
          DEPLOYMENT_VERSIONING: 'operator',
          TEMPORAL_DEPLOYMENT_NAME: `pay/${metadata.name}`,
        });
        expect(spec).toMatchObject({
          replicas: 3,
          rollout: { strategy: 'Manual' },
          workerOptions: {
            connectionRef: { name: connections[0]!.metadata.name },
            temporalNamespace: settings['TEMPORAL_NAMESPACE'],
          },
        });
        expect(connections[0]!.spec).toEqual({
          hostPort: settings['TEMPORAL_ADDRESS'],
          apiKeySecretRef: { name: 'payments', key: 'TEMPORAL_API_KEY' },
        });
        const given = spec.template.spec.containers[0]!.env.map(({ name }) => name);
        expect(given).not.toContain('TEMPORAL_API_KEY');
      }
    });

    if (hasValidator || (isInCi && onPath('python3') !== undefined)) {
      it('matches the schemas of Kubernetes, without unknown fields', async () => {
        const validator = await findPythonProgram(VALIDATOR, () => undefined);
        // The schemas of other API groups are those of their operators.
        const own = manifests
          .map((manifest) => (manifest.kind === 'WorkerDeployment' ? asDeployment(manifest) : manifest))
          .filter(({ apiVersion }) => !/(keda\.sh|coreos\.com|external-secrets\.io|temporal\.io)\//.test(apiVersion));
        const file = path.join(folder, 'manifests.yaml');
        writeFileSync(file, own.map((manifest) => stringify(manifest)).join('---\n'));
        await runCommand(validator, ['--strict', '--quiet', '--kubernetes-version', '1.37.0', file]);
        writeFileSync(file, stringify({ ...own[0]!, spek: {} }));
        await expect(
          runCommand(validator, ['--strict', '--quiet', '--kubernetes-version', '1.37.0', file]),
        ).rejects.toThrow('spek');
      }, 300_000);
    }
  });

  describe.each(['api', 'manage', 'codec'])('the NetworkPolicy of %s', (component) => {
    let helm: string;
    beforeAll(async () => (helm = await findHelm()), 900_000);

    it.each([
      ['ClusterIP', '', [{ namespaceSelector: {} }]],
      ['LoadBalancer', '', 'all addresses'],
      ['NodePort', '', 'all addresses'],
      ['LoadBalancer', 'clients[0].ipBlock.cidr=203.0.113.0/24', [{ ipBlock: { cidr: '203.0.113.0/24' } }]],
      ['LoadBalancer', 'clients=null', 'nobody'],
    ])('with a Service of type %s and the clients "%s" opens the http port to %j', async (type, clients, expected) => {
      const set = `${component}.service.type=${type}${clients && `,networkPolicy.${clients}`}`;
      // It has all three processes, and the clients of the chart.
      const manifests = await render(helm, `${CHART}/ci/mtls.yaml`, set);
      const { spec } = manifests.find(
        ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === `payments-${component}`,
      )!;
      const openTo = (port: string) => {
        const rule = spec.ingress!.find(({ ports }) => ports.some((one) => one.port === port));
        return rule === undefined ? 'nobody' : (rule.from ?? 'all addresses');
      };
      expect(openTo('http')).toEqual(expected);
      const monitoring = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }];
      expect(openTo('metrics')).toEqual(component === 'codec' ? 'nobody' : monitoring);
    });
  });
}

/** One version's Deployment as the Worker Controller makes it. */
const asDeployment = ({ metadata, spec: { template } }: Manifest) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata,
  spec: { template, selector: { matchLabels: template.metadata.labels } },
});

/** The variables that docker-compose.yml gives the process and does not leave empty, but for its certificate. */
function compose(name: string): string[] {
  const { services } = parse(textOfFile('docker-compose.yml'), { merge: true }) as {
    services: Record<string, { environment: Record<string, string> }>;
  };
  return Object.entries(services[name]!.environment)
    .filter(([variable, value]) => !/^\$\{\w+:-[^}]*\}$/.test(value) && !/^TLS_|^WEBHOOK_PRIVATE/.test(variable))
    .map(([variable]) => variable);
}
