import { createApp } from '../../api/http/app';
import { Draining } from '../../api/http/draining';
import { keyStore } from '../../api/http/idempotency';
import { Intake } from '../../api/http/intake';
import { listen } from '../../api/http/server';
import { authenticateByToken } from '../../api/manage/authenticate';
import document from '../../api/manage/openapi.json';
import { createManageOperations } from '../../api/manage/operations/index';
import { tokenEndpoint } from '../../api/manage/token-endpoint';
import { Tokens } from '../../api/manage/tokens';
import { requireSetting, type Config } from '../config';
import { MANAGE_API } from '../contract/manage/manage-api';
import { checkWritable } from '../db/connection';
import type { Logger } from '../log';
import { SecretKeys } from '../secrets';
import { pingTemporal } from '../temporal/connect';
import { createWorkflowClients } from '../temporal/workflows';
import { openHostDatabases, openTemporal, managePublicUrl } from './connections';
import { startMetrics } from './metrics';
import { announcePayloadKey } from './payload-key-use';
import type { Started } from './process';

/** Opens what the bearer-token host needs and listens. */
export async function serveManage(config: Config, log: Logger): Promise<Started> {
  const metrics = await startMetrics(config, log, 'manage');
  const secrets = new SecretKeys(requireSetting(config, 'SECRET_KEYS'));
  const { db, probe } = await openHostDatabases(config);
  const client = openTemporal(config, log, db);
  const endKeyUse = await announcePayloadKey(config, db, log);
  const { deliveries, webhook_recoveries, erasures, incidents } = createWorkflowClients({ client, db });
  const issuer = managePublicUrl(config);
  const tokens = new Tokens({ db, secrets, issuer });
  const draining = new Draining();
  const intake = await Intake.open(db, log);
  const app = createApp({
    host: 'manage',
    config,
    log,
    api: {
      routes: MANAGE_API,
      operations: createManageOperations({
        db,
        secrets,
        deliveries,
        webhook_recoveries,
        erasures,
        incidents,
        webhook_private_addresses: config.WEBHOOK_PRIVATE_ADDRESSES,
      }),
      authenticate: authenticateByToken({ db, tokens }),
      keysOf: ({ id }) => keyStore({ db, secrets }, id),
    },
    document,
    draining,
    probes: [
      { name: 'postgres', required: true, check: () => checkWritable(probe) },
      // Without it webhooks that are sent again wait.
      { name: 'temporal', required: false, check: () => pingTemporal(client) },
    ],
    routers: [tokenEndpoint({ db, secrets, tokens, issuer })],
    intake,
  });
  const server = await listen(
    app,
    { ...config, host: config.MANAGE_HOST, port: config.MANAGE_PORT },
    { variables: 'MANAGE', draining },
  );
  log.info({ url: server.url }, 'bearer-token host listens');
  return {
    startDrain: () => draining.begin(),
    async close() {
      await server.close();
      intake.close();
      await endKeyUse();
      await client.connection.close();
      await Promise.all([db.destroy(), probe.destroy()]);
      await metrics?.close();
    },
  };
}
