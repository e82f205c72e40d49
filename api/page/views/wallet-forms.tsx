import type { Wallet } from '../../../src/processor/wire';
import { TOKEN_FIELD } from '../csrf';
import { WALLET_NAMES, type Texts } from '../languages';
import { DeviceIcon } from './icons';

interface WalletFormsProps {
  texts: Texts;
  wallets: readonly Wallet[];
  page: string;
  token: string;
  attempt: number;
}

/** One form for each wallet, whose button pays at once. The button says that the wallet is simulated. */
export function WalletForms({ texts, wallets, page, token, attempt }: WalletFormsProps) {
  return (
    <div class="wallets">
      {wallets.map((wallet) => (
        <form key={wallet} method="post" action={`${page}wallet/`} data-pay>
          <input type="hidden" name={TOKEN_FIELD} value={token} />
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
