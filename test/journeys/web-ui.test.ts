import type { Page } from 'playwright-core';
import { createOrder, createPaymentLink } from '../../src/client';
import { asMarkdown } from '../../src/domain/shown-text';
import { readVariables } from '../../src/stack/launch';
import { sentInputs } from '../../src/temporal/sent-inputs';
import { createOrderUpdate, orderWorkflowId, paymentLinkWorkflowId } from '../../workflows/messages';
import { launchBrowser } from '../support/browser';
import { recordRows } from '../support/database';
import { answerOf, Merchant, statusesOf } from '../support/merchant';
import { payingTransactionId } from '../support/merchant-payments';
import { setUp } from '../support/set-up';
import { stack } from '../support/stack';
import { withTemporal } from '../support/temporal-client';
import { until } from '../support/waits';

/**
 * An operator's browser on the Temporal Web UI of `npm start`: nothing has to be set up to read and to write payloads.
 */
const { CODEC_HOST, CODEC_PORT } = readVariables(stack().data_dir);
const codec_url = `http://${CODEC_HOST}:${CODEC_PORT}`;

const browser = setUp(() => launchBrowser());

/** What a script of the page reads back of the text that it has encrypted, or how it fails. */
const ENCODE_AND_DECODE = async ({ url, text }: { url: string; text: string }) => {
  const post = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json', 'x-namespace': 'payments' };
    const answer = await fetch(url + path, {
      method: 'POST',
      headers,
      credentials: 'include',
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { payloads: [{ metadata: { encoding: string }; data: string }] };
  };
  try {
    const plain = { metadata: { encoding: btoa('json/plain') }, data: btoa(text) };
    const encoded = await post('/encode', { payloads: [plain] });
    const decoded = await post('/decode', encoded);
    return [atob(encoded.payloads[0].metadata.encoding), atob(decoded.payloads[0].data)];
  } catch (error) {
    return String(error);
  }
};

/** Whether Temporal's list of workflows has it; the list is up to a second behind. */
async function isListed(workflow_id: string): Promise<boolean> {
  const query = new URLSearchParams({ query: `WorkflowId = "${workflow_id}"` });
  const answer = await fetch(`${stack().temporal_ui_url}/api/v1/namespaces/payments/workflows?${query}`);
  const { executions = [] } = (await answer.json()) as { executions?: unknown[] };
  return executions.length > 0;
}

/** Sends an update with the dialog of the Web UI. Returns what Temporal is sent. */
async function sendUpdate(page: Page, name: string, input?: object): Promise<string> {
  await page.getByRole('button', { name: 'More Actions' }).first().click();
  await page.getByRole('menuitem', { name: 'Send an Update' }).first().click();
  const dialog = page.locator('dialog[open]');
  await dialog.locator('#update-select').locator('xpath=..').click({ force: true });
  await dialog.getByRole('option', { name }).click();
  if (input !== undefined) {
    await dialog.locator('.cm-content').click();
    await page.keyboard.insertText(JSON.stringify(input));
    // The editor formats what was typed when it is left, which moves the button.
    await page.keyboard.press('Tab');
    await dialog.locator('.cm-line', { hasText: '"outcome": ' }).waitFor();
  }
  const sent = page.waitForRequest((request) => request.url().includes(`/update/${name}`));
  await dialog.getByRole('button', { name: 'Submit' }).click();
  return (await sent).postData() ?? '';
}

test('rules 24.5, 24.9 and 28.3: the Web UI decrypts what it shows, and an operator has the processor asked and sets an outcome with its dialog, which a restore can read; other pages may not encrypt', async () => {
  const merchant = new Merchant();
  const order = await merchant.paidOrder('processing_approved');
  await merchant.addFault({ kind: 'outage', operation: 'ask', order_id: order.id });
  const workflow_id = orderWorkflowId(order.id);
  await until('the workflow is listed: the Web UI looks up its run there', () => isListed(workflow_id));
  const page = await browser.newPage();
  const decoded = page.waitForResponse((response) => response.url().startsWith(`${codec_url}/decode`));
  await page.goto(`${stack().temporal_ui_url}/namespaces/payments/workflows/${encodeURIComponent(workflow_id)}`);
  expect((await decoded).status()).toBe(200);
  const encoded = { url: codec_url, text: '{"outcome":"approved","reason":"ticket 1"}' };
  expect(await page.evaluate(ENCODE_AND_DECODE, encoded)).toEqual(['binary/encrypted', encoded.text]);

  await sendUpdate(page, 'pollNow');
  const transaction_id = payingTransactionId(order);
  await until('the processor was asked', async () => {
    const sql = 'select polled_at from transactions where id = :transaction_id';
    return (await recordRows<{ polled_at: string | null }>(sql, { transaction_id }))[0]!.polled_at !== null;
  });
  await page.reload();
  const reason = 'Back office, ticket 42';
  const sent = await sendUpdate(page, 'setOutcome', { transaction_id, outcome: 'approved', reason });
  expect(sent).not.toContain(btoa('json/plain'));
  expect(statusesOf(await merchant.untilStatus(order.id, 'completed'))).toBe('completed: accepted');
  await merchant.removeFaults();
  const { updates } = await withTemporal(stack(), (temporal) => sentInputs(temporal, workflow_id));
  expect(updates.filter(({ name }) => name !== createOrderUpdate.name)).toEqual([
    { name: 'pollNow', input: undefined, result: 'done' },
    {
      name: 'setOutcome',
      input: { transaction_id, outcome: 'approved', reason, operator: expect.any(String) as string },
      result: 'done',
    },
  ]);

  const another = await browser.newPage();
  await another.goto(`${stack().simulator_url}/`);
  expect(await another.evaluate(ENCODE_AND_DECODE, encoded)).toBe('TypeError: Failed to fetch');
});

const MARKUP =
  '[x](https://evil.example) ![y](https://evil.example/y.png) <img src=x onerror=alert(1)> <script>1</script> **b** https://evil.example\n# h\n\u202ertl';
const SHOWN = MARKUP.replaceAll('\n', '\\u000a').replace('\u202e', '\\u202e');

test('rules 24.12: the Web UI shows the Markdown and HTML of a reference as text', async () => {
  const { project } = new Merchant();
  const amounts = { currency: 'EUR', amount: 1_250, merchant_order_id: MARKUP };
  const order = await answerOf<{ id: string }>(createOrder({ orderRequest: amounts }, project));
  const link = await answerOf<{ id: string }>(createPaymentLink({ paymentLinkRequest: amounts }, project));
  const workflow_id = orderWorkflowId(order.body.id);
  await until('the workflow is listed', () => isListed(workflow_id));
  const page = await browser.newPage();
  await page.goto(`${stack().temporal_ui_url}/namespaces/payments/workflows/${encodeURIComponent(workflow_id)}`);
  await page.getByText('User Metadata', { exact: true }).click();
  // It renders Markdown in a frame.
  const summary = page.frameLocator('#user-metadata-summary').locator('main');
  await summary.waitFor();
  expect(await summary.innerText()).toContain(SHOWN);
  expect(await summary.locator('a, img, script, strong, em, h1').count()).toBe(0);

  // It shows that of a link in the same way.
  await withTemporal(stack(), async (temporal) => {
    const described = await Promise.all(
      [workflow_id, paymentLinkWorkflowId(link.body.id)].map((id) => temporal.workflow.getHandle(id).describe()),
    );
    for (const one of described) expect(await one.staticSummary()).toContain(asMarkdown(MARKUP));
  });
});
