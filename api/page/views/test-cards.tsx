import type { TestCard } from '../../../src/processor/wire';
import type { Reader } from '../reader';
import { grouped } from '../test-cards';

/**
 * The table of test cards: a form whose buttons load the page with that card filled in. Explicit roles, because the rows are blocks
 * on a phone and browsers would forget that it is a table. The cards' texts come from the processor, in English.
 */
export function TestCards({
  reader: { texts },
  cards,
  action,
}: {
  reader: Reader;
  cards: readonly TestCard[];
  action: string;
}) {
  return (
    <section class="sheet cards" aria-labelledby="cards-heading">
      <h2 id="cards-heading">{texts.cards_heading}</h2>
      <form method="get" action={action}>
        <table role="table">
          <caption>{texts.cards_detail}</caption>
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col">
                {texts.cards_card}
              </th>
              <th role="columnheader" scope="col">
                {texts.cards_number}
              </th>
              <th role="columnheader" scope="col">
                {texts.cards_meaning}
              </th>
              <td role="cell" />
            </tr>
          </thead>
          <tbody role="rowgroup">
            {cards.map(({ name, number, title, meaning }) => (
              <tr role="row" key={name}>
                <th role="rowheader" scope="row" lang="en">
                  {title}
                </th>
                <td role="cell" class="digits">
                  {grouped(number)}
                </td>
                <td role="cell" class="meaning" lang="en">
                  {meaning}
                </td>
                <td role="cell">
                  <button
                    class="button small"
                    type="submit"
                    name="card"
                    value={name}
                    aria-label={texts.cards_use_named(title)}
                  >
                    {texts.cards_use}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </form>
    </section>
  );
}
