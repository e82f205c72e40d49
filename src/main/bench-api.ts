import { FLOOR_PATH, floorRoute } from '../bench/floor-route';
import { MEMORY_PATH, answerHeldMemory } from '../bench/held-memory';
import { prepareProcess, runProcess } from '../processes/process';
import { serveApi } from '../processes/serve-api';

const { config, log } = prepareProcess(process.env, 'api');

/** The api as it is, with the routes of the floor and of its memory. */
runProcess(log, () =>
  serveApi(config, log, (pages, client) => {
    pages.post(FLOOR_PATH, floorRoute(client));
    pages.get(MEMORY_PATH, answerHeldMemory);
  }),
);
