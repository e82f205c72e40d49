import { runBehindProxies } from './behind-proxies';

runBehindProxies('api', require.resolve('../../src/main/api'));
