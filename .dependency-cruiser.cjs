/**
 * Who may import whom. A rule sees types too, unless it says `run_time`. test/guards/import-rules.test.ts breaks each
 * of them on purpose.
 */
const run_time = { exoticallyRequired: false };

/** Packages the domain may use: pure, no I/O, no clock, small in the workflow bundle. */
const PURE_PACKAGES = ['card-validator', 'currency-codes', 'iso-3166', 'leven', 'temporal-polyfill'];

const packages = (...names) => `^node_modules/(@types/)?(${names.join('|')})(/|$)`;
const folders = (...names) => `^(${names.join('|')})(/|\\.tsx?$)`;

/** All code of ours: what a rule about "above" and "beside" chooses from. */
const OURS = '^(src|workflows|activities|api|proofs|test)/';
const ADAPTERS = ['src/db', 'src/search', 'src/processor', 'src/temporal', 'src/webhook'];
/** What an adapter may use besides what every adapter may. */
const ALSO = {
  // It answers a call with the record, and starts workflows by their ids and inputs; the bundle is made of the entry,
  // interceptors and converters.
  'src/temporal': [folders('src/db'), '^workflows/(messages|index|interceptors|failure-converter|payload-converter)\\.ts$'],
};
/** What processes consist of. */
const PROCESSES = ['src/admin', 'src/cli', 'src/generate', 'src/indexer', 'src/processes', 'src/recovery'];
/** What everybody may use. */
const BASE = ['src/domain', 'src/errors'];
/** What an adapter may use beside its own folder. */
const BELOW_ADAPTERS = [...BASE, 'src/contract', 'src/config', 'src/http-server', 'src/ids', 'src/log', 'src/loop', 'src/metrics', 'src/secrets', 'src/time', 'src/tracing', 'src/time-limit'];

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    rule('no-cycles', 'Two files that need each other are one, or hide a third.', {}, { circular: true }),
    rule('resolvable', 'An import that leads nowhere.', {}, { couldNotResolve: true }),
    rule('declared-packages', 'A package that package.json does not name is here by accident.', { path: '^(src|workflows|activities|api)/' }, {
      dependencyTypes: ['npm-no-pkg', 'npm-unknown'],
    }),
    rule('no-dev-packages-in-production', 'The image is installed without them; it does not generate dashboards.', { path: '^(src|workflows|activities|api)/', pathNot: '^src/generate/dashboards/' }, {
      ...run_time,
      dependencyTypes: ['npm-dev'],
      dependencyTypesNot: ['npm'],
    }),

    rule('errors-import-nothing', 'The error table stands alone.', { path: folders('src/errors') }, { path: '.' }),
    rule('ids-import-nothing', 'Names and hashes of things know none of the things, a loop and a server none of their work.', { path: folders('src/http-server', 'src/ids', 'src/loop', 'src/secrets', 'src/time', 'src/time-limit') }, { path: OURS }),
    rule('config-stands-alone', 'Configuration and log know nothing of what they configure.', { path: folders('src/config', 'src/log') }, {
      path: OURS,
      pathNot: folders(...BASE, 'src/config', 'src/log'),
    }),
    rule('metrics-below-adapters', 'What is measured and recorded: it knows the words of the domain and the routes, not who measures.', { path: folders('src/metrics') }, {
      path: OURS,
      pathNot: folders(...BASE, 'src/contract', 'src/http-server', 'src/metrics'),
    }),
    rule('tracing-knows-no-adapter', 'Adapters ask it for spans; it knows none of them.', { path: folders('src/tracing') }, {
      path: OURS,
      pathNot: folders(...BASE, 'src/tracing', 'src/config', 'src/log'),
    }),
    rule('domain-is-pure', 'The domain decides: itself, the error table and a listed set of pure packages.', { path: folders('src/domain') }, {
      pathNot: [folders(...BASE), packages(...PURE_PACKAGES)],
    }),
    rule('contract-below-all', 'The wire shapes know the domain, the errors and zod.', { path: folders('src/contract') }, {
      pathNot: [folders(...BASE, 'src/contract'), packages('zod')],
    }),
    ...ADAPTERS.map((adapter) =>
      rule(`adapter-${adapter.slice(4)}`, 'Adapters know neither each other nor anything above them.', { path: folders(adapter) }, {
        path: OURS,
        pathNot: [folders(adapter, ...BELOW_ADAPTERS), ...(ALSO[adapter] ?? [])],
      }),
    ),
    rule('workflows-at-run-time', 'The bundle is run anew for each workflow: nothing that costs, above all no zod.', { path: '^workflows/' }, {
      ...run_time,
      pathNot: ['^workflows/', folders(...BASE), packages('@temporalio/workflow', '@temporalio/common')],
    }),
    rule('workflows-above-domain', 'Types too: what the database or another company looks like is no business of theirs; activities are named to be called.', { path: '^workflows/' }, {
      path: OURS,
      pathNot: ['^workflows/', '^activities/', folders(...BASE, 'src/contract')],
    }),
    rule('activities-below-api', 'Activities touch the world; they know neither api nor, but for the messages, the workflows that call them.', { path: '^activities/' }, {
      path: OURS,
      pathNot: ['^activities/', '^workflows/messages\\.ts$', folders(...ADAPTERS, ...BELOW_ADAPTERS)],
    }),
    rule('api-below-main', 'The API knows adapters and what is below them, of workflows only the messages.', { path: '^api/' }, {
      path: OURS,
      pathNot: ['^api/', '^workflows/messages\\.ts$', folders(...ADAPTERS, ...BELOW_ADAPTERS)],
    }),
    rule('client-stands-alone', 'Merchants copy the folder: its own files and its runtime.', { path: folders('src/client') }, {
      pathNot: [folders('src/client'), packages('@oazapfts/runtime')],
    }),
    rule('simulator-is-another-company', 'It shares the wire format, configuration and log with us, nothing else.', { path: folders('src/simulator') }, {
      path: OURS,
      pathNot: [folders('src/simulator', 'src/config', 'src/log'), '^src/processor/wire\\.ts$'],
    }),
    rule('stack-knows-servers-only', 'It starts servers and programs; what they do is none of its business.', { path: folders('src/stack') }, {
      path: OURS,
      pathNot: folders('src/stack', 'src/config', 'src/log'),
    }),
    rule('processes-above-all', 'What runs in a process knows everything; only entry points start it.', {
      path: OURS,
      pathNot: [folders('src/main', ...PROCESSES), '^(proofs|test)/'],
    }, { path: folders(...PROCESSES) }),
    rule('nobody-imports-main', 'Processes are started, not imported.', { path: OURS, pathNot: '^(src/main|proofs|test)/' }, { path: '^src/main/' }),
    rule('nobody-imports-test', 'Product code does not know its tests and proofs.', { path: '^(src|workflows|activities|api)/' }, { path: '^(proofs|test)/' }),

    rule('knex-only-in-db', 'SQL lives in one folder.', { path: OURS, pathNot: '^src/db/' }, { path: packages('knex') }),
    rule('meilisearch-only-in-search', 'The index lives in one folder.', { path: OURS, pathNot: '^src/search/' }, { path: packages('meilisearch') }),
    rule('express-only-at-the-edge', 'HTTP is served by api and simulator, and by their tests.', { path: OURS, pathNot: '^(api|src/simulator|test/api|test/src/simulator|test/support)/' }, {
      path: packages('express'),
    }),
    rule('no-express-in-operations', 'A use case does not know HTTP.', { path: '^api/operations/' }, { path: packages('express') }),
    rule('temporal-client-only-in-temporal', 'Workflows are called in one folder; tests and the benchmark look at them.', { path: OURS, pathNot: '^(src/temporal|src/bench|proofs|test)/' }, {
      path: packages('@temporalio/client'),
    }),
    rule('worker-sdk-only-where-workers-start', 'It loads the native core.', { path: OURS, pathNot: '^(src/main|src/processes|src/temporal|proofs|test/support|test/src/temporal)/' }, {
      path: packages('@temporalio/worker'),
    }),

    rule('no-dead-files', 'No process reaches it; a test alone keeps nothing alive.', { path: '^src/main/' }, {
      path: '^(src|workflows|activities|api)/.*\\.tsx?$',
      // Merchants run the client.
      pathNot: '^src/(main|client)/',
      reachable: false,
    }),
  ],
  options: {
    babelConfig: { fileName: '.dependency-cruiser.babel.cjs' },
    exoticRequireStrings: ['typeImport'],
    doNotFollow: { path: '^node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.json'], exportsFields: ['exports'], conditionNames: ['require', 'node', 'default', 'types'] },
  },
};
