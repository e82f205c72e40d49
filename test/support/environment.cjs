const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** What jest leaves on the global object for one test file: the next one starts without it. */
const OF_ONE_FILE = new Set(['JEST_STATE_SYMBOL', 'EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL']);

/**
 * Test files of one jest worker share its global object, as modules of a process do: in a context of their own, which
 * jest makes by default, each use of a global takes a look-up, and each package is loaded anew for each file. Globals
 * and environment variables that a file changes are put back after it.
 */
module.exports = class Environment {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.globals = valuesOf(globalThis);
    this.variables = { ...process.env };
    const { exit, getBuiltinModule } = process;
    this.functions = { exit, getBuiltinModule };
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    for (const key of Object.getOwnPropertySymbols(globalThis)) {
      if (OF_ONE_FILE.has(key.description)) delete globalThis[key];
    }
    for (const [key, descriptor] of this.globals) {
      if (globalThis[key] !== descriptor.value) Object.defineProperty(globalThis, key, descriptor);
    }
    for (const name of Object.keys(process.env)) if (!(name in this.variables)) delete process.env[name];
    Object.assign(process.env, this.variables);
    Object.assign(process, this.functions);
    this.global = undefined;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
};

/** Properties that hold a value: reading a getter of Node would load what it stands for. */
function valuesOf(object) {
  return Object.entries(Object.getOwnPropertyDescriptors(object)).filter(
    ([, descriptor]) => 'value' in descriptor && descriptor.configurable,
  );
}
