/**
 * Sends webhooks with the built sender in a process of its own, all at once: `node post-webhooks.cjs '{"webhooks",
 * "name_server"}'`. Prints the answers as JSON. It ends by itself once no connection and no timer is left open.
 */
const path = require('node:path');
const built = path.join(__dirname, '../../dist/src/webhook');
const { postWebhook } = require(path.join(built, 'post'));
const { resolver } = require(path.join(built, 'resolve'));

const { webhooks, name_server } = JSON.parse(process.argv[2]);
resolver.setServers([name_server]);
void Promise.all(webhooks.map((webhook) => postWebhook(webhook))).then((answers) => {
  process.stdout.write(JSON.stringify(answers));
});
