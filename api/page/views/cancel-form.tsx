import { TOKEN_FIELD } from '../csrf';
import type { Texts } from '../languages';

/** A separate form: it must share neither a button row nor the enter key with the card form. */
export function CancelForm({ texts, page, token }: { texts: Texts; page: string; token: string }) {
  return (
    <form method="post" action={`${page}cancel/`}>
      <input type="hidden" name={TOKEN_FIELD} value={token} />
      <button class="quiet" type="submit">
        {texts.cancel}
      </button>
    </form>
  );
}
