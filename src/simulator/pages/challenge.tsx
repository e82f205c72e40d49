import { code as currencyOf } from 'currency-codes';
import { renderPage } from './page';

/** The payment as the issuer shows it; `amount` in minor units. */
export interface ChallengeView {
  amount: number;
  currency: string;
  truncated_pan: string | null;
  /** Attempts that are left after a wrong code; absent before the first. */
  attempts_left?: number;
  /** Language tag for the amount's notation. */
  locale: string;
}

/** The issuer's page: the customer types the code, or cancels. */
export function challengePage(view: ChallengeView): string {
  const wrong = view.attempts_left !== undefined;
  return renderPage({
    title: wrong ? 'Wrong code · Confirm your payment' : 'Confirm your payment',
    width: 'narrow',
    children: (
      <div class="panel challenge">
        <Issuer />
        <h1>Confirm your payment</h1>
        <p class="soft">Your bank wants to be sure that it is you.</p>
        <dl class="facts">
          <div>
            <dt>Amount</dt>
            <dd>{amountText(view)}</dd>
          </div>
          {view.truncated_pan !== null && (
            <div>
              <dt>Card</dt>
              <dd class="number">•••• {view.truncated_pan.slice(-4)}</dd>
            </div>
          )}
        </dl>
        <form method="post">
          {wrong && (
            <p class="wrong" role="alert" id="wrong">
              This code is not right.{' '}
              {view.attempts_left === 1 ? 'One attempt is left.' : `${view.attempts_left} attempts are left.`}
            </p>
          )}
          <label for="code">Code</label>
          <p class="hint" id="hint">
            Simulated: 0101 passes, 3333 fails.
          </p>
          <input
            id="code"
            name="code"
            inputmode="numeric"
            autocomplete="one-time-code"
            maxlength={12}
            required
            autofocus
            aria-describedby={wrong ? 'wrong hint' : 'hint'}
            {...(wrong && { 'aria-invalid': 'true' })}
          />
          <button type="submit">Confirm</button>
        </form>
        <form method="post">
          <button class="quiet" type="submit" name="action" value="cancel">
            Cancel payment
          </button>
        </form>
      </div>
    ),
  });
}

/** Shown instead of going back, where the merchant gave no address to go back to. */
export function challengeOverPage(): string {
  return renderPage({
    title: 'Thank you',
    width: 'narrow',
    children: (
      <div class="panel challenge">
        <Issuer />
        <h1>Thank you</h1>
        <p class="soft">Your bank has told the merchant. You can close this page.</p>
      </div>
    ),
  });
}

/** For an address that belongs to no challenge. */
export function challengeUnknownPage(): string {
  return renderPage({
    title: 'Not found',
    width: 'narrow',
    children: (
      <div class="panel challenge">
        <Issuer />
        <h1>There is nothing to confirm here</h1>
        <p class="soft">The address is incomplete or too old. Go back to the shop and try again.</p>
      </div>
    ),
  });
}

function Issuer() {
  return (
    <div class="issuer">
      <svg
        width="26"
        height="26"
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linejoin="round"
        aria-hidden="true"
      >
        <path d="M12 3 20 6v6c0 4.5-3.3 7.9-8 9-4.7-1.1-8-4.5-8-9V6l8-3Z" />
        <path d="m8.5 12 2.5 2.5 4.5-5" stroke-linecap="round" />
      </svg>
      Simulated bank
    </div>
  );
}

/** The amount in the customer's notation, exact also where a number would round: Intl takes decimals as text. */
function amountText({ amount, currency, locale }: ChallengeView): string {
  const digits = currencyOf(currency)?.digits ?? 2;
  const text = String(amount).padStart(digits + 1, '0');
  const decimal = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return format.format(decimal as Intl.StringNumericLiteral);
}
