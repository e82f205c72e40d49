import { parseConfig, setVariables, type Config } from '../config';
import { readFacts, readVariables } from '../stack/launch';

/**
 * The configuration of a command: that of the environment, without POSTGRES_URL that of the stack that runs on
 * DATA_DIR.
 */
export function commandConfig(env: NodeJS.ProcessEnv): Config {
  const given = parseConfig(env);
  if (given.POSTGRES_URL !== undefined) return given;
  const variables = readVariables(given.DATA_DIR);
  const { postgres_url: POSTGRES_OWNER_URL } = readFacts(given.DATA_DIR);
  return parseConfig({ POSTGRES_OWNER_URL, ...variables, ...setVariables(env) });
}
