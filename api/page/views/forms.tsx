import type { Wallet } from '../../../src/processor/wire';
import type { CardField, FieldErrors } from '../card-form';
import { TOKEN_FIELD } from '../csrf';
import { WALLET_NAMES, type Localization } from '../languages';
import type { Prefilled } from '../test-cards';
import { DeviceIcon } from './icons';

/** Properties of every form of a page that pays. */
interface PaymentFormProps {
  /** Address of the page. */
  page: string;
  token: string;
  attempt: number;
}

/** What every form sends: proof that it is of a page of ours, and the language in which an error is answered. */
function HiddenFields({ token, localization }: { token: string; localization: Localization }) {
  return (
    <>
      <input type="hidden" name={TOKEN_FIELD} value={token} />
      <input type="hidden" name="language" value={localization.lang} />
    </>
  );
}

/** The contents of the card form, and where it is sent. */
interface CardFormProps extends PaymentFormProps {
  localization: Localization;
  errors: FieldErrors;
  /** Published values of a test card, or the name from a form that is shown again; never a typed number or code. */
  values: Partial<Prefilled>;
  amount: string;
  merchant: string;
}

/** The card form, with one button. The server checks it; without a script it is the same form. */
export function CardForm({ localization, page, token, attempt, errors, values, amount, merchant }: CardFormProps) {
  const { texts } = localization;
  // A test card was chosen: all that is left is to pay.
  const ready = values.number !== undefined;
  const shared = { errors, values };
  return (
    <form method="post" action={page} novalidate data-pay>
      <HiddenFields token={token} localization={localization} />
      <input type="hidden" name="attempt" value={attempt} />
      <div class="fields">
        <Field
          {...shared}
          name="number"
          label={texts.number}
          autocomplete="cc-number"
          inputmode="numeric"
          maxlength={23}
          wide
        />
        <Field
          {...shared}
          name="card_expiry"
          label={texts.expiry}
          hint={texts.expiry_hint}
          autocomplete="cc-exp"
          inputmode="numeric"
          maxlength={9}
        />
        <Field
          {...shared}
          name="security_code"
          label={texts.code}
          hint={texts.code_hint}
          autocomplete="cc-csc"
          inputmode="numeric"
          maxlength={4}
        />
        <Field {...shared} name="cardholder_name" label={texts.name} autocomplete="cc-name" maxlength={255} wide />
      </div>
      <div class="actions">
        <button class="button" type="submit" data-busy={texts.paying} autofocus={ready}>
          {texts.pay(amount)}
        </button>
        <p class="promise">{texts.card_privacy(merchant)}</p>
      </div>
    </form>
  );
}

interface FieldProps {
  name: CardField;
  label: string;
  hint?: string;
  autocomplete: string;
  inputmode?: 'numeric';
  maxlength: number;
  wide?: boolean;
  errors: FieldErrors;
  values: Partial<Prefilled>;
}

function Field({ name, label, hint, wide, errors, values, ...input }: FieldProps) {
  const wrong = errors[name];
  const describedBy = [hint && `${name}-hint`, wrong && `${name}-wrong`].filter(Boolean).join(' ');
  return (
    <div class={wide ? 'field wide' : 'field'}>
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        type="text"
        required
        spellcheck={false}
        autocapitalize={name === 'cardholder_name' ? 'words' : 'off'}
        value={values[name]}
        aria-invalid={wrong ? 'true' : undefined}
        aria-describedby={describedBy || undefined}
        {...input}
      />
      {hint && (
        <span class="hint" id={`${name}-hint`}>
          {hint}
        </span>
      )}
      {wrong && (
        <span class="wrong" id={`${name}-wrong`}>
          {wrong}
        </span>
      )}
    </div>
  );
}

interface WalletFormsProps extends PaymentFormProps {
  localization: Localization;
  wallets: readonly Wallet[];
}

/** One form for each wallet, whose button pays at once. The button says that the wallet is simulated. */
export function WalletForms({ localization, wallets, page, token, attempt }: WalletFormsProps) {
  const { texts } = localization;
  return (
    <div class="wallets">
      {wallets.map((wallet) => (
        <form key={wallet} method="post" action={`${page}wallet/`} data-pay>
          <HiddenFields token={token} localization={localization} />
          <input type="hidden" name="attempt" value={attempt} />
          <input type="hidden" name="payment_method" value={wallet} />
          <button class="button wallet" type="submit" aria-describedby="simulated">
            <DeviceIcon />
            <span data-busy={texts.paying}>{texts.pay_with(WALLET_NAMES[wallet])}</span>{' '}
            <span class="tag">{texts.simulated}</span>
          </button>
        </form>
      ))}
      <p class="promise" id="simulated">
        {texts.simulated_detail}
      </p>
    </div>
  );
}

/** A separate form: it must share neither a button row nor the enter key with the card form. */
export function CancelForm({ localization, page, token }: { localization: Localization; page: string; token: string }) {
  const { texts } = localization;
  return (
    <form method="post" action={`${page}cancel/`}>
      <HiddenFields token={token} localization={localization} />
      <button class="quiet" type="submit">
        {texts.cancel}
      </button>
    </form>
  );
}
