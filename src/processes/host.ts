import { createApp, type AppDependencies } from '../../api/http/app';
import { Draining } from '../../api/http/draining';
import { Intake } from '../../api/http/intake';
import { listen } from '../../api/http/server';
import type { Caller } from '../../api/operation';
import { requireSetting, type Config } from '../config';
import { checkWritable } from '../db/availability';
import type { Logger } from '../log';
import { SecretKeys } from '../secrets';
import { pingTemporal } from '../temporal/connect';
import { createWorkflowClients } from '../temporal/workflows';
import { openTemporal, type HostDatabases } from './connections';
import { startMetrics } from './metrics';
import { announcePayloadKey } from './payload-key-use';
import type { Started } from './process';

/** What only one host has: its application, and what it closes. */
interface HostParts<C extends Caller> extends Pick<AppDependencies<C>, 'api' | 'document' | 'observers' | 'routers'> {
  /** End with the listener: their requests are answered at once. */
  waits?: readonly Closable[];
  recorder?: Closable;
  processor?: Closable;
}

interface Closable {
  close(): Promise<void>;
}

/** Opens what both HTTP hosts need. `serve` listens; the process that it returns closes everything. */
export async function openHost<Databases extends HostDatabases>(
  config: Config,
  log: Logger,
  host: 'api' | 'manage',
  openDatabases: (config: Config) => Promise<Databases>,
) {
  const metrics = await startMetrics(config, log, host);
  const secrets = new SecretKeys(requireSetting(config, 'SECRET_KEYS'));
  const databases = await openDatabases(config);
  const { db, probe, bulk }: HostDatabases = databases;
  const client = openTemporal(config, log, db);
  const endKeyUse = await announcePayloadKey(config, db, log);
  const workflows = createWorkflowClients({ client, db });
  const intake = await Intake.open(db, log);

  async function serve<C extends Caller>(own: HostParts<C>): Promise<Started> {
    const { waits = [], recorder, processor, ...parts } = own;
    const draining = new Draining();
    const probes = [
      { name: 'postgres', required: true, check: () => checkWritable(probe) },
      // While Temporal is unavailable, requests that only read are served, and webhooks that are sent again wait.
      { name: 'temporal', required: false, check: () => pingTemporal(client) },
    ];
    const app = createApp({ ...parts, host, config, log, draining, probes, intake });
    const server =
      host === 'api'
        ? await listen(app, { ...config, host: config.API_HOST, port: config.API_PORT }, { draining })
        : await listen(
            app,
            { ...config, host: config.MANAGE_HOST, port: config.MANAGE_PORT },
            { variables: 'MANAGE', draining },
          );
    log.info({ url: server.url }, host === 'api' ? 'api listens' : 'bearer-token host listens');
    return {
      startDrain: () => draining.begin(),
      async close() {
        await Promise.all([...waits, server].map((one) => one.close()));
        intake.close();
        await endKeyUse();
        await recorder?.close();
        await client.connection.close();
        await processor?.close();
        await Promise.all([db.destroy(), bulk?.db.destroy(), probe.destroy()]);
        await metrics?.close();
      },
    };
  }

  return { ...databases, secrets, client, workflows, intake, serve };
}
