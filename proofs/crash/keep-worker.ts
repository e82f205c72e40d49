import { keepAlive } from './keep';

/** The worker of a stack whose worker is killed again and again. */
keepAlive(require.resolve('./worker'));
