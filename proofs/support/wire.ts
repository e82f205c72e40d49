import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Toxiproxy, type Proxy } from 'toxiproxy-node-client';
import { repositoryRoot } from '../../src/stack/files';
import { freePort } from '../../src/stack/ports';
import { buildGoProgram } from '../../src/stack/tools/go';
import { OwnStack } from '../../test/support/stack';
import { until } from '../../test/support/waits';
import { proxyName, writeToxiproxyAddress, type WireEnd, type WireServer } from './behind-proxies';

/**
 * A stack whose API and worker reach Postgres, Temporal, the processor and Meilisearch through proxies of Toxiproxy,
 * which cut and reset their connections. The programs are those of the product, started with other addresses.
 */
export class WiredStack {
  readonly own: OwnStack;
  private toxiproxy!: Toxiproxy;
  private server: ChildProcess | undefined;

  /** `name` and `env` as of OwnStack. */
  constructor(name: string, env: () => Record<string, string> = () => ({})) {
    const program = (file: string) => path.join(repositoryRoot(), 'dist', 'proofs', 'support', file);
    this.own = new OwnStack(name, env, [
      ...['--api', program('api-behind-proxies.js')],
      ...['--worker', program('worker-behind-proxies.js')],
    ]);
  }

  /** Throws an Error that says how to get Go where it is missing. */
  async start(): ReturnType<OwnStack['start']> {
    const port = await freePort();
    this.server = spawn(await toxiproxyProgram(), ['-host', '127.0.0.1', '-port', String(port)], { stdio: 'ignore' });
    const address = `http://127.0.0.1:${port}`;
    this.toxiproxy = new Toxiproxy(address);
    await until('Toxiproxy answers', () => this.toxiproxy.getVersion().catch(() => undefined));
    writeToxiproxyAddress(this.own.data_dir, address);
    return await this.own.start();
  }

  async discard(): Promise<void> {
    this.server?.kill();
    await this.own.discard();
  }

  /** The proxy between a process and a server. */
  async proxy(from: WireEnd, to: WireServer): Promise<Proxy> {
    return await this.toxiproxy.get(proxyName(from, to));
  }

  /** All proxies pass everything again. */
  async mend(): Promise<void> {
    await this.toxiproxy.reset();
  }
}

/** The program of Toxiproxy in `.tools`; built from its Go module, which takes seconds after the first time. */
async function toxiproxyProgram(): Promise<string> {
  const folder = path.join(repositoryRoot(), '.tools');
  mkdirSync(folder, { recursive: true });
  const to = path.join(folder, 'toxiproxy');
  const module = path.join(repositoryRoot(), 'proofs', 'support', 'toxiproxy');
  await buildGoProgram({ module, package: 'github.com/Shopify/toxiproxy/v2/cmd/server', to });
  return to;
}
