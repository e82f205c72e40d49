import { parseConfig, type Config } from '../config';
import { readVariables } from '../stack/launch';

/**
 * The configuration of a command: that of the environment, without POSTGRES_URL that of the stack that runs on
 * DATA_DIR.
 */
export function commandConfig(env: NodeJS.ProcessEnv): Config {
  const given = parseConfig(env);
  return given.POSTGRES_URL === undefined ? parseConfig({ ...readVariables(given.DATA_DIR), ...env }) : given;
}
