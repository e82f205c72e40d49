import type { CardField, FieldErrors } from '../card-form';
import { TOKEN_FIELD } from '../csrf';
import type { Reader } from '../reader';
import type { Prefilled } from '../test-cards';

/** What the card form shows and where it is sent. */
export interface CardFormProps {
  reader: Reader;
  action: string;
  token: string;
  attempt: number;
  errors: FieldErrors;
  /** Published values of a test card, or the name from a form that is shown again; never a typed number or code. */
  values: Partial<Prefilled>;
  amount: string;
  merchant: string;
}

/** The card form, with one button. The server checks it; without a script it is the same form. */
export function CardForm({ reader, action, token, attempt, errors, values, amount, merchant }: CardFormProps) {
  const { texts } = reader;
  // A test card was chosen: all that is left is to pay.
  const ready = values.number !== undefined;
  const shared = { errors, values };
  return (
    <form method="post" action={action} novalidate data-pay>
      <input type="hidden" name={TOKEN_FIELD} value={token} />
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
        <p class="promise">{texts.card_promise(merchant)}</p>
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
