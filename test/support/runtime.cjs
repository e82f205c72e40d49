const { createRequire, isBuiltin } = require('node:module');
const { isAbsolute } = require('node:path');
const { compileFunction } = require('node:vm');
const Runtime = require('jest-runtime').default;

/** Functions of modules by their file, with the code they were compiled from. */
const compiled = new Map();

const isPackage = (name) => !name.startsWith('.') && !isAbsolute(name) && !isBuiltin(name);

/**
 * Loads modules of the project anew for each test file, as jest does, and packages once for each worker: Node loads
 * them, and what it has compiled and optimized stays. For `environment.cjs`, whose test files share one global object.
 */
module.exports = class extends Runtime {
  constructor(...args) {
    super(...args);
    const { executor } = this;
    executor.compile = (code, filename) => compile(code, filename, executor.injectedModuleParameters);
    require.extensions['.ts'] = (module, filename) => this.loadForPackage(module, filename);
  }

  requireModule(from, name, options, isRequireActual) {
    if (name !== undefined && isPackage(name) && name !== '@jest/globals') return createRequire(from)(name);
    return super.requireModule(from, name, options, isRequireActual);
  }

  /** A package loads a file of the project: Temporal's client the failure converter. */
  loadForPackage(module, filename) {
    module.exports = this.requireModule(filename);
    // The next test file has its own.
    delete require.cache[filename];
  }

  teardown() {
    delete require.extensions['.ts'];
    super.teardown();
  }
};

function compile(code, filename, parameters) {
  const known = compiled.get(filename);
  if (known?.code === code) return known.module;
  const module = compileFunction(code, parameters, { filename });
  compiled.set(filename, { code, module });
  return module;
}
