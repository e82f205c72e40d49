import './worker-calls';
import '../../src/main/worker';
