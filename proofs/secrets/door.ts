import type { SentCard } from './secrets';

/** A way into the service. */
export interface Door {
  name: string;
  /**
   * right: the field is made for it. refused: the answer must be a 4xx. other: any answer, such as for a header that is
   * ignored.
   */
  kind: 'right' | 'refused' | 'other';
  /** Sends the card; `written` is its number in one of the forms that clients send. */
  send: (card: SentCard, written: string) => Promise<Response | string>;
}

/** An answer that was given at a door. */
export interface Given {
  door: string;
  /** Absent: of no HTTP answer. */
  status?: number;
  text: string;
}

/** The whole answer: its headers too, as a redirect may repeat what was sent. */
export async function given(door: string, answer: Response | string): Promise<Given> {
  if (typeof answer === 'string') return { door, text: answer };
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  return { door, status: answer.status, text: `${headers}\n\n${await answer.text()}` };
}
