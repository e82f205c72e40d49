const path = require('node:path');
const { globalSetup: _setup, globalTeardown: _teardown, ...config } = require('../../jest.config.js');

/** As `npm test`, without starting servers: the tests need none, or the proof has started them. */
module.exports = { ...config, rootDir: path.join(__dirname, '../..') };
