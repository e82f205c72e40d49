import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import type { VaultedCard } from '../processor/wire';
import type { ScenarioName } from './scenarios';

export interface CardRow extends VaultedCard {
  project_id: string;
  scenario: ScenarioName;
}

/** Cards kept in memory, so that a charge needs no look-up; their rows never change. Limits memory, not the vault. */
const CARDS_REMEMBERED = 10_000;

/** The cards and accounts of which the service knows the tokens. */
export class Vault {
  private readonly cards = new LRUCache<string, CardRow>({ max: CARDS_REMEMBERED });

  constructor(private readonly pool: Pool) {}

  async insertCard(card: Omit<CardRow, 'vault_token'>): Promise<CardRow> {
    const row: CardRow = { ...card, vault_token: `vt_${randomBytes(18).toString('hex')}` };
    const text = 'insert into cards select * from json_populate_record(null::cards, $1)';
    await this.pool.query({ name: 'card', text, values: [row] });
    this.cards.set(row.vault_token, row);
    return row;
  }

  /** The card of a token, in its own project only. */
  async card(vault_token: string, project_id: string): Promise<CardRow | undefined> {
    let row = this.cards.get(vault_token);
    if (!row) {
      const found = await this.pool.query<{ card: CardRow }>(
        // Null columns are absent fields.
        'select json_strip_nulls(to_json(cards)) as card from cards where vault_token = $1',
        [vault_token],
      );
      if (!found.rows[0]) return undefined;
      row = found.rows[0].card;
      this.cards.set(vault_token, row);
    }
    return row.project_id === project_id ? row : undefined;
  }

  async insertAccount(project_id: string, truncated_number: string): Promise<string> {
    const account_token = `at_${randomBytes(18).toString('hex')}`;
    const insert = 'insert into accounts (account_token, project_id, truncated_number) values ($1, $2, $3)';
    await this.pool.query(insert, [account_token, project_id, truncated_number]);
    return account_token;
  }

  /** Whether the token is an account of this project. */
  async hasAccount(account_token: string, project_id: string): Promise<boolean> {
    const select = 'select 1 from accounts where account_token = $1 and project_id = $2';
    return (await this.pool.query(select, [account_token, project_id])).rowCount === 1;
  }
}
