import express, { Router, type Response } from 'express';
import { z } from 'zod';
import type { SimulatorContext } from './context';
import { challengeOverPage, challengePage, challengeUnknownPage } from './pages/challenge';
import { parse } from './refusal';
import { CHALLENGE_CODES, CHALLENGE_FAILED, type ScenarioOutcome } from './scenarios';
import type { OperationRow } from './operation';
import type { Store } from './store';

/** Wrong codes that fail the challenge. */
const ATTEMPTS_MAX = 3;

const formSchema = z.object({ code: z.string().trim().max(64).default(''), action: z.string().max(64).default('') });

/**
 * The issuer's 3-D Secure page. Its address is a secret of 144 random bits, so it needs no other authentication. The
 * customer returns to `return_url` unchanged: only the processor reports the outcome.
 */
export function challenge({ store, wake }: SimulatorContext): Router {
  const router = Router();
  router.use(express.urlencoded({ extended: false, limit: '4kb' }));

  router.get('/:id/', async (req, res) => {
    const row = await findChallenge(req.params.id);
    if (!row) return void res.status(404).send(challengeUnknownPage());
    if (row.result !== 'challenge') return leave(row, res);
    const wrong = row.challenge_attempts > 0 ? { attempts_left: ATTEMPTS_MAX - row.challenge_attempts } : {};
    res.send(
      challengePage({
        amount: Number(row.amount),
        currency: row.currency,
        truncated_pan: row.truncated_pan,
        locale: localeOf(req.acceptsLanguages()),
        ...wrong,
      }),
    );
  });

  router.post('/:id/', async (req, res) => {
    const { id } = req.params;
    const { code, action } = parse(formSchema, req.body ?? {});
    const row = await findChallenge(id);
    if (!row) return void res.status(404).send(challengeUnknownPage());
    if (row.result !== 'challenge') return leave(row, res);

    const outcome = action === 'cancel' ? CHALLENGE_FAILED : (codeOutcome(code) ?? (await wrongCode(id)));
    // Redirected, so that a reload submits nothing twice.
    if (!outcome) return res.redirect(303, `${req.baseUrl}/${id}/`);
    await store.finishChallenge(id, outcome, new Date());
    wake();
    leave(row, res);
  });

  async function findChallenge(id: string): ReturnType<Store['challenge']> {
    const row = await store.challenge(id);
    const ended = await endedChallenge(store, row, new Date());
    return row && { ...row, ...ended };
  }

  async function wrongCode(id: string): Promise<ScenarioOutcome | undefined> {
    const attempts = await store.wrongCode(id);
    return attempts === undefined || attempts >= ATTEMPTS_MAX ? CHALLENGE_FAILED : undefined;
  }

  return router;
}

/** How long a customer has for a challenge; then it fails. Milliseconds. */
const CHALLENGE_MS = 60 * 60_000;

/** The operation after its challenge has run out of time; `undefined` while it has time, or is over. */
export async function endedChallenge(
  store: Store,
  row: OperationRow | undefined,
  now: Date,
): Promise<OperationRow | undefined> {
  if (row?.result !== 'challenge' || row.challenge_id === null) return undefined;
  if (now.getTime() < row.occurred.getTime() + CHALLENGE_MS) return undefined;
  return await store.finishChallenge(row.challenge_id, CHALLENGE_FAILED, now);
}

function codeOutcome(code: string): ScenarioOutcome | undefined {
  return Object.hasOwn(CHALLENGE_CODES, code) ? CHALLENGE_CODES[code] : undefined;
}

function leave(row: OperationRow, res: Response): void {
  if (row.return_url === null) res.send(challengeOverPage());
  else res.redirect(303, row.return_url);
}

/** The first language the browser wants that Intl knows. */
function localeOf(languages: string[]): string {
  for (const language of languages) {
    try {
      return Intl.getCanonicalLocales(language)[0] ?? 'en';
    } catch {
      // Not a language tag, `*` for example.
    }
  }
  return 'en';
}
