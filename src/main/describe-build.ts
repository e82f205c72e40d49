import { describeBuild } from '../processes/build';

/** Writes dist/build.json; the last step of `npm run build`. */
void describeBuild(Date.now());
