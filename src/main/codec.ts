import { parseConfig, required } from '../config';
import { createLog } from '../log';
import { startCodecServer } from '../temporal/codec-server';
import { signInOf } from '../temporal/operator-sign-in';
import { runProcess } from './process';

const config = parseConfig(process.env);
const log = createLog({ process: 'codec', level: config.LOG_LEVEL });

/** Lets operators read encrypted payloads in the Temporal Web UI, until it is stopped. */
runProcess(log, async () => {
  const server = await startCodecServer({
    host: config.CODEC_HOST,
    port: config.CODEC_PORT,
    payload_keys: required(config, 'PAYLOAD_KEYS'),
    ui_origin: new URL(required(config, 'TEMPORAL_UI_URL')).origin,
    signIn: signInOf(config),
    log,
  });
  log.info({ url: server.url }, 'codec listens');
  return server;
});
