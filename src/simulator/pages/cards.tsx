import { TEST_CARDS, type SimulatorCard } from '../cards';
import { scenarioOf, type Scenario } from '../scenarios';
import { renderPage } from './page';

const CALLS = [
  ['GET /cards.json', 'This table.'],
  [
    'GET /ledger/?transaction_id=',
    'What was done, oldest first; also by order_id, or all of it. Pages with limit and after, the next one in the Link header.',
  ],
  [
    'POST /control/faults/',
    'Trouble on purpose: {"kind": "latency" | "error" | "no_answer" | "lost_answer" | "outage" | "garbage"}, with milliseconds and times if wanted, for one operation (ask and vault too), order_id, transaction_id, project_id, vault_token or idempotency_key, or for all. GET shows it, DELETE ends it.',
  ],
  [
    'POST /control/due/',
    'What waits for its time happens now, of one transaction_id or of all: late outcomes, chargebacks.',
  ],
  [
    'POST /control/chargebacks/',
    'A chargeback, or with "operation": "chargeback_reversal" its end in your favour, of any transaction_id; amount if it is a part.',
  ],
  ['POST /control/settlements/', 'Settles now what moved money, and not at the end of the day: one order_id, or all.'],
  ['POST /control/notifications/', 'Tells again how the operation with this idempotency_key stands.'],
] as const;

/** The front page: all test cards and the simulator's endpoints. */
export function cardsPage(): string {
  return renderPage({
    title: 'Test cards · Processor simulator',
    width: 'wide',
    children: (
      <>
        <h1>Processor simulator</h1>
        <p class="lead">
          Pays nothing and nobody. These cards behave as described in test projects; use any expiry date in the future
          and any security code of three digits. Live projects decline them. The wallets of the payment page are
          simulated too: each pays with a card of its own, approved in test and live projects.
        </p>
        <div class="panel">
          <table class="cards">
            <caption>Test cards</caption>
            <thead>
              <tr>
                <th scope="col">Number</th>
                <th scope="col">Outcome</th>
                <th scope="col">What happens</th>
              </tr>
            </thead>
            <tbody>{Object.values(TEST_CARDS).map(cardRow)}</tbody>
          </table>
        </div>
        <h2>For tests and operators</h2>
        <p class="soft">
          With <code>Authorization: Bearer</code> and the control key (<code>SIMULATOR_CONTROL_KEY</code>). Bodies are
          JSON.
        </p>
        <dl class="panel calls">
          {CALLS.map(([call, meaning]) => (
            <div key={call}>
              <dt>
                <code>{call}</code>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </>
    ),
  });
}

function cardRow(card: SimulatorCard) {
  return (
    <tr key={card.number}>
      <td class="number">{grouped(card.number)}</td>
      <td class={`title ${markOf(card)}`}>{card.title}</td>
      <td class="meaning">{card.meaning}</td>
    </tr>
  );
}

/** `4111 1111 1111 1111`. */
function grouped(number: string): string {
  return number.replace(/(\d{4})(?=\d)/g, '$1 ');
}

/** Colour of a card: declined, first answer open, or something happens after an approval. */
function markOf(card: SimulatorCard): string {
  const scenario: Scenario = scenarioOf(card.scenario);
  if (scenario.charge?.result === 'declined') return 'declined';
  if (scenario.first_arrival || scenario.charge?.result === 'processing' || scenario.charge?.result === 'challenge') {
    return 'open';
  }
  return scenario.capture || scenario.refund || scenario.chargeback_after_ms !== undefined ? 'after' : 'approved';
}
