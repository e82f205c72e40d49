import { requireSetting, type Config } from '../config';
import type { SearchServer } from '../search/connection';

/** Where the search index is. Throws an Error that names the variable when it is not set. */
export function searchServer(config: Config): SearchServer {
  return { url: requireSetting(config, 'MEILISEARCH_URL'), master_key: config.MEILISEARCH_KEY };
}
