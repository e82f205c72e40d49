import { parseConfig, requireSetting } from '../config';
import { createLogger } from '../log';
import { openDatabase } from '../processes/connections';
import { announcePayloadKey } from '../processes/payload-key-use';
import { startCodecServer } from '../temporal/codec-server';
import { signInOf } from '../temporal/operator-sign-in';
import { runProcess } from '../processes/process';

const config = parseConfig(process.env);
const log = createLogger({ process: 'codec', level: config.LOG_LEVEL });

/** Its only statements are the entries of the audit trail, and which key it uses. */
const CONNECTIONS = 2;

/** Lets operators read encrypted payloads in the Temporal Web UI, until it is stopped. */
runProcess(log, async () => {
  const db = await openDatabase(config, CONNECTIONS);
  const endKeyUse = await announcePayloadKey(config, db, log);
  const server = await startCodecServer({
    host: config.CODEC_HOST,
    port: config.CODEC_PORT,
    payload_keys: requireSetting(config, 'PAYLOAD_KEYS'),
    ui_origin: new URL(requireSetting(config, 'TEMPORAL_UI_URL')).origin,
    signIn: signInOf(config),
    db,
    log,
  });
  log.info({ url: server.url }, 'codec listens');
  return {
    async close() {
      await server.close();
      await endKeyUse();
      await db.destroy();
    },
  };
});
