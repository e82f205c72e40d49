/**
 * Names in package-lock.json the packages of other platforms. A registry that serves only this platform's makes `npm
 * install` leave them out, and `npm ci` then refuses the whole lock file ("Missing: … from lock file"), here and
 * everywhere. Run it after `npm install`: node .ci/complete-lock.mjs
 */
import { readFileSync, writeFileSync } from 'node:fs';

const OS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const CPU = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];
/** Words of package names that mean one of the above. */
const MEANS = { windows: 'win32', armv7: 'arm', 'arm-gnueabihf': 'arm', universal: undefined, wasm32: 'wasm32', amd64: 'x64', wasi: undefined };

const file = 'package-lock.json';
const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = [];

for (const [where, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if (found(where, name)) continue;
    if (!/^\d+\.\d+\.\d+[\w.+-]*$/.test(range)) throw new Error(`${name}@${range} of ${where} is no exact version`);
    const key = `node_modules/${name}`;
    const platform = platformOf(name);
    lock.packages[key] = { version: range, ...platform, ...(entry.dev ? { dev: true } : {}), optional: true };
    added.push(`${name} ${JSON.stringify(platform)}`);
  }
}

/** As Node looks packages up: in the package's own folder first, then in each above. */
function found(where, name) {
  for (let at = where; ; at = at.replace(/(^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')) {
    if (lock.packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`]) return true;
    if (at === '') return false;
  }
}

/** What npm needs to know to leave it out on other machines. */
function platformOf(name) {
  const words = name.split(/[/@._-]/).map((word) => (word in MEANS ? MEANS[word] : word));
  const os = words.find((word) => OS.includes(word));
  const cpu = words.find((word) => CPU.includes(word));
  const libc = words.includes('musl') || words.includes('musleabihf') ? 'musl' : words.includes('gnu') ? 'glibc' : undefined;
  if (os === undefined && cpu === undefined) throw new Error(`${name} does not tell its platform`);
  return { ...(cpu ? { cpu: [cpu] } : {}), ...(libc && os === 'linux' ? { libc: [libc] } : {}), ...(os ? { os: [os] } : {}) };
}

if (added.length > 0) {
  const sorted = Object.entries(lock.packages).toSorted(([one], [other]) => one.localeCompare(other, 'en'));
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
}
process.stdout.write(`${added.length} packages of other platforms added\n${added.map((line) => `  ${line}\n`).join('')}`);
