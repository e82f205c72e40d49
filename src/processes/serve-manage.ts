import { keyStore } from '../../api/http/idempotency';
import { authenticateByToken } from '../../api/manage/authenticate';
import document from '../../api/manage/openapi.json';
import { createManageOperations } from '../../api/manage/operations/index';
import { tokenEndpoint } from '../../api/manage/token-endpoint';
import { Tokens } from '../../api/manage/tokens';
import type { Config } from '../config';
import { MANAGE_API } from '../contract/manage/manage-api';
import type { Logger } from '../log';
import { openHostDatabases, managePublicUrl } from './connections';
import { openHost } from './host';
import type { Started } from './process';

/** Opens what the bearer-token host needs and listens. */
export async function serveManage(config: Config, log: Logger): Promise<Started> {
  const host = await openHost(config, log, 'manage', openHostDatabases);
  const { db, secrets } = host;
  const { deliveries, webhook_recoveries, erasures, incidents } = host.workflows;
  const issuer = managePublicUrl(config);
  const tokens = new Tokens({ db, secrets, issuer });
  return await host.serve({
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
    routers: [tokenEndpoint({ db, secrets, tokens, issuer })],
  });
}
