import { createBulkReads } from '../../api/large-answers/bulk-reads';
import { authenticateByApiKey } from '../../api/http/authenticate';
import { keyStore } from '../../api/http/idempotency';
import { RequestRecorder } from '../../api/http/request-recorder';
import document from '../../api/openapi.json';
import { createOperations } from '../../api/operations/index';
import { createPages, type PageRates } from '../../api/page/index';
import { EventWaits } from '../../api/requests/event-waits';
import { presentVersion } from '../../api/present/order';
import { presentLinkVersion } from '../../api/present/payment-link';
import { OrderWaits } from '../../api/requests/order-waits';
import { WaitingPlaces } from '../../api/requests/waiting-requests';
import { processorNotifications } from '../../api/processor-notifications';
import { processorSecret, requireSetting, retentionDays, valuesOf, type Config } from '../config';
import { MERCHANT_API } from '../contract/merchant-api';
import { findProjectByApiKey } from '../db/projects/api-keys';
import type { Database } from '../db/query';
import { findStoredOrder } from '../db/orders/stored-order';
import { findStoredPaymentLink } from '../db/payment-links';
import { noteSearch } from '../db/search/search-outbox';
import type { Logger } from '../log';
import type { TemporalClient } from '../temporal/connect';
import { SearchReader } from '../search/reader';
import { openApiDatabases, openProcessor, searchServer, publicUrl } from './connections';
import { openHost } from './host';
import type { Started } from './process';

/** How long a form of the hosted page waits for the outcome (rules 12.4). Milliseconds. */
const PAGE_DEADLINE_MS = 10_000;

/** Opens what the api needs and listens. `addTo`: the benchmark's own process adds its routes to the pages. */
export async function serveApi(
  config: Config,
  log: Logger,
  addTo?: (pages: ReturnType<typeof createPages>, client: TemporalClient) => void,
): Promise<Started> {
  const page_secrets = valuesOf(requireSetting(config, 'PAGE_SECRET'));
  const notification_secrets = valuesOf(processorSecret(config, 'PROCESSOR_NOTIFICATION_SECRET'));
  const host = await openHost(config, log, 'api', openApiDatabases);
  const { db, bulk, secrets, client, workflows, intake } = host;
  const { processor_notifications } = workflows;
  const processor = openProcessor(config, log);
  const services = { ...workflows, db, processor, public_url: publicUrl(config) };
  const pages = createPages({
    ...services,
    page_secrets,
    deadline_ms: PAGE_DEADLINE_MS,
    log,
    rates: pageRates(config),
    intake,
  });
  addTo?.(pages, client);
  const waiting_places = new WaitingPlaces();
  const order_waits = new OrderWaits(db, log, waiting_places);
  const event_waits = new EventWaits(db, log, waiting_places);
  const recorder = new RequestRecorder({ db, log, document });
  return await host.serve({
    api: {
      routes: MERCHANT_API,
      operations: createOperations({
        ...services,
        bulk: createBulkReads(bulk.db, bulk.connections),
        order_waits,
        event_waits,
        search: new SearchReader(searchServer(config), () => noteSearch(db), log),
        webhook_private_addresses: config.WEBHOOK_PRIVATE_ADDRESSES,
        retention_days: retentionDays(config),
      }),
      authenticate: authenticateByApiKey(
        (api_key) => findProjectByApiKey({ db, secrets }, api_key, Date.now()),
        config.API_KEY_CACHE_MS,
      ),
      keysOf: ({ project }) => keyStore({ db, secrets }, project.id, (id) => readShownObject(services, id)),
    },
    document,
    observers: [recorder.observe],
    routers: [processorNotifications({ processor_notifications, secrets: notification_secrets, log, intake }), pages],
    waits: [order_waits, event_waits],
    recorder,
    processor,
  });
}

/** The order or payment link as the API shows it now; `undefined` when there is none. */
async function readShownObject({ db, public_url }: { db: Database; public_url: string }, id: string) {
  const order = await findStoredOrder(db, id);
  if (order !== undefined) return presentVersion(order, public_url);
  const link = await findStoredPaymentLink(db, id);
  return link && presentLinkVersion(link, public_url);
}

/** How much customers may send to the pages; `undefined` where the rate limits are off. */
function pageRates(config: Config): PageRates | undefined {
  if (config.RATE_LIMIT_PER_SECOND === 0) return undefined;
  return {
    page: { per_second: config.PAGE_RATE_LIMIT_PER_SECOND, burst: config.PAGE_RATE_LIMIT_BURST },
    order_form: { per_second: config.FORM_RATE_LIMIT_PER_SECOND, burst: config.FORM_RATE_LIMIT_BURST },
    link_form: { per_second: config.LINK_FORM_RATE_LIMIT_PER_SECOND, burst: config.LINK_FORM_RATE_LIMIT_BURST },
  };
}
