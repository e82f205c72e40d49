import { runBehindProxies } from './behind-proxies';

runBehindProxies('worker', require.resolve('../../src/main/worker'));
