import type { RunningStack } from './stack';

type Place = Pick<RunningStack, 'simulator_url' | 'simulator_control_key'>;

/** Calls the control API or the ledger of a simulator, by its path or an address. Throws when it refuses. */
export async function callSimulator(
  { simulator_url, simulator_control_key }: Place,
  path: string,
  { method = 'GET', body }: { method?: string; body?: object } = {},
): Promise<Response> {
  const answer = await fetch(new URL(path, simulator_url), {
    method,
    headers: {
      authorization: `Bearer ${simulator_control_key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

/** POST to the control API of a simulator. Throws when it refuses. */
export async function postControl(place: Place, what: string, body: object): Promise<Response> {
  return await callSimulator(place, `/control/${what}/`, { method: 'POST', body });
}
