import { CARD_FIELDS, type FieldErrors } from '../card-form';

/** A notice; `errors` become links to their fields. */
export interface NoticeProps {
  heading: string;
  details?: readonly string[];
  errors?: FieldErrors;
}

/** Shown above the form after something went wrong; read out and focused first. */
export function Notice({ heading, details = [], errors = {} }: NoticeProps) {
  const wrong = CARD_FIELDS.filter((name) => errors[name] !== undefined);
  return (
    <div class="notice" role="alert" tabindex={-1} autofocus>
      <h2>{heading}</h2>
      {details.map((detail) => (
        <p key={detail}>{detail}</p>
      ))}
      {wrong.length > 0 && (
        <ul>
          {wrong.map((name) => (
            <li key={name}>
              <a href={`#${name}`}>{errors[name]}</a>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
