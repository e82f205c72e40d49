import { keepAlive } from './keep';

/** The api of a stack whose api is killed again and again. */
keepAlive(require.resolve('./api'));
