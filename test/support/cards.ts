import { TEST_CARDS, type TestCardName } from '../../src/simulator/cards';

/** The simulator's test cards by meaning: `CARDS.approved.number`. */
export const CARDS = TEST_CARDS;
export type CardName = TestCardName;
