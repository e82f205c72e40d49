import { FLOOR_PATH, floorRoute } from '../bench/floor-route';
import { MEMORY_PATH, answerHeldMemory } from '../bench/held-memory';
import { parseConfig } from '../config';
import { createLogger } from '../log';
import { runProcess } from '../processes/process';
import { serveApi } from '../processes/serve-api';
import { startTracing } from '../tracing/tracing';

const config = parseConfig(process.env);
const log = createLogger({ process: 'api', level: config.LOG_LEVEL });
startTracing(config, 'api', log);

/** The api as it is, with the routes of the floor and of its memory. */
runProcess(log, () =>
  serveApi(config, log, (pages, client) => {
    pages.post(FLOOR_PATH, floorRoute(client));
    pages.get(MEMORY_PATH, answerHeldMemory);
  }),
);
