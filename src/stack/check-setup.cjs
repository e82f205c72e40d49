// The first step of `npm run build`: says in one line what an installation lacks to be built. Plain JavaScript, which the
// oldest Node reads too.
const { existsSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..', '..');
const [oldest] = /\d+\.\d+/.exec(require(path.join(root, 'package.json')).engines.node);
const isOlder = (version, than) => {
  const [[major, minor], [least, least_minor]] = [version, than].map((text) => text.split('.').map(Number));
  return major < least || (major === least && minor < least_minor);
};

const lack = isOlder(process.versions.node, oldest)
  ? `this is Node ${process.versions.node}: install Node ${oldest} or newer`
  : ['typescript', '@scalar/api-reference'].every((name) => existsSync(path.join(root, 'node_modules', name)))
    ? undefined
    : 'the packages for building are not installed, as with NODE_ENV=production: run npm ci --include=dev';
if (lack !== undefined) {
  process.stderr.write(`payments: ${lack}\n`);
  process.exit(1);
}
