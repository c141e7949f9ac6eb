// The clients of server/docs/clients.md: which feature is tried with which client, by which test.

/**
 * @typedef {object} Evidence
 * @property {string} file relative to test/
 * @property {string} title as it stands in the file
 *
 * @typedef {object} Client
 * @property {string} name
 * @property {string} [npm] the package whose version is the tests'
 * @property {string} [installed] the folder of test/bench/peers that has the package, in place of the tests' own
 * @property {boolean} [hasSavedVersion] whether its version is the one that it reported last
 * @property {string[]} [lacks] the features of its table that are not tried with it, or that it has not
 *
 * @typedef {object} Table
 * @property {string} title
 * @property {string} about
 * @property {Record<string, Evidence | ((client: string) => Evidence)>} features
 * @property {Client[]} clients
 */

/** @param {string} file @returns {(title: string) => Evidence} */
const inFile = (file) => (title) => ({ file, title });

const webViews = inFile('engines/web-view.test.ts');
const engines = inFile('engines/buying.test.ts');
const buying = inFile('frameworks/buying.test.ts');
const frameworks = inFile('widget/recipes.browser-test.tsx');
const native = inFile('frameworks/react-native.test.ts');
const documents = inFile('api/operations/persisted-documents.test.ts');
const generators = inFile('clients/generators.test.ts');
const live = inFile('live/resume.test.ts');
const partial = inFile('api/graphql/partial-results.test.ts');

const RECIPE = inFile('live/recipes.test.ts')(
  'the recipe for %s shows each payment once, over a cut and a new token',
);
const RESUMED = live('%s misses nothing and gets nothing twice, over cuts, outages and the end of its token');

/** The programs of the HTTP clients. */
const HTTP = /** @type {const} */ ({
  curl: 'client.sh',
  'Python http.client': 'client.py',
  'Ruby Net::HTTP': 'client.rb',
  'PHP curl': 'client.php',
  'Go net/http': 'client.go',
  'Java HttpClient': 'client.java',
  'Apache HttpClient': 'recorded.ts',
});
/** @param {string} feature @returns {(client: string) => Evidence} */
const called = (feature) => (client) => {
  const program = HTTP[/** @type {keyof typeof HTTP} */ (client)];
  // The relay in front of the server counts the connections of a program.
  const isCounted = feature === 'keep-alive' && program !== 'recorded.ts';
  return { file: `clients/http/${isCounted ? 'kit.ts' : program}`, title: feature };
};

/** @type {Table[]} */
export const TABLES = [
  {
    title: 'Live status',
    about:
      'Subscriptions that miss nothing and get nothing twice, over cuts, outages and the end of a token. EventSource sends no\ncredential: a server of the page adds it. `for await` is a loop over `live` of `@psa/checkout/live`; `follow` of\n`@psa/checkout/server` has the key of the account. In Chromium: the built package, on a page of another origin.',
    features: {
      'none missed, none doubled': (client) =>
        client === 'EventSource'
          ? inFile('live/event-source.test.ts')(
              'an EventSource comes back where it was, whatever ends its connection',
            )
          : RESUMED,
      'in Chromium': inFile('live/in-chromium.test.ts')(
        '%s in Chromium misses nothing and gets nothing twice, over cuts, outages and the end of its token',
      ),
      recipe: RECIPE,
    },
    clients: [
      { name: 'graphql-ws', npm: 'graphql-ws' },
      { name: 'graphql-ws 5', npm: 'graphql-ws-5', lacks: ['in Chromium', 'recipe'] },
      { name: 'graphql-sse', npm: 'graphql-sse', lacks: ['in Chromium', 'recipe'] },
      { name: 'Apollo Client', npm: '@apollo/client', lacks: ['in Chromium'] },
      { name: 'Apollo Client 3', npm: 'apollo-client-3', lacks: ['in Chromium', 'recipe'] },
      { name: 'urql', npm: '@urql/core', lacks: ['in Chromium'] },
      { name: 'Relay', npm: 'relay-runtime', lacks: ['in Chromium'] },
      { name: 'EventSource', lacks: ['in Chromium', 'recipe'] },
      { name: 'no library' },
      { name: 'for await', lacks: ['recipe'] },
      { name: 'follow', lacks: ['in Chromium', 'recipe'] },
    ],
  },
  {
    title: 'GraphQL over HTTP',
    about:
      'Queries and mutations over `POST` and `GET`, documents by their hash or identifier, and results with a root field that has failed.',
    features: {
      'audits of the specification': inFile('api/operations/http.test.ts')(
        'The server passes this audit of GraphQL over HTTP: %s',
      ),
      'persisted queries': (client) =>
        documents(
          client === 'Relay'
            ? 'Relay reads and follows by the identifiers of trusted documents, where tokens run nothing else'
            : `${client} registers a query once, by GET: %s`,
        ),
      'partial results': (client) =>
        partial(
          client === 'Relay'
            ? 'Relay catches the error of one field with @catch, and throws it with @throwOnFieldError alone'
            : 'Apollo Client with errorPolicy all shows what has arrived, and the error of the rest',
        ),
      'bound token': inFile('api/operations/bound-tokens.test.ts')(
        'Apollo Client reads by identifiers with a bound token, and is refused another document',
      ),
    },
    clients: [
      {
        name: 'graphql-http',
        npm: 'graphql-http',
        lacks: ['persisted queries', 'partial results', 'bound token'],
      },
      { name: 'Apollo Client', npm: '@apollo/client', lacks: ['audits of the specification'] },
      {
        name: 'Relay',
        npm: 'relay-runtime',
        lacks: ['audits of the specification', 'bound token'],
      },
      {
        name: 'urql',
        npm: '@urql/core',
        lacks: ['audits of the specification', 'partial results', 'bound token'],
      },
    ],
  },
  {
    title: 'Code generators',
    about:
      'The code that these tools generate from `schema.graphql` compiles with `strict` and `exactOptionalPropertyTypes`. Map `Cents` to\n`number`, and `DateTime`, `Decimal` and `Url` to `string`; only gateways use `_Any`. Graphcache needs the introspection of the schema, and\n`keys` for types without an `id`.',
    features: {
      'strict types': generators(
        'The code that %s generates from the schema compiles with strict and exactOptionalPropertyTypes',
      ),
      'partial results from the cache': generators(
        'Graphcache knows from the schema what may be null, and shows the rest at once',
      ),
    },
    clients: [
      ...Object.entries({
        'GraphQL Code Generator': '@graphql-codegen/cli',
        'gql.tada': 'gql.tada',
        'Relay compiler': 'relay-compiler',
        GenQL: '@genql/cli',
      }).map(([name, npm]) => ({
        name,
        npm,
        installed: 'generators',
        lacks: ['partial results from the cache'],
      })),
      { name: 'urql Graphcache', npm: '@urql/exchange-graphcache', installed: 'generators' },
    ],
  },
  {
    title: 'Gateways',
    about:
      'Each gateway joins this server with another Apollo Federation 2 subgraph that adds a field to `CardPayment`.',
    features: {
      'joins by key': inFile('api/operations/gateway.test.ts')(
        '%s joins this server with a subgraph that extends a card payment',
      ),
    },
    clients: [
      { name: 'Apollo Gateway', npm: '@apollo/gateway', installed: 'federation' },
      { name: 'Hive Gateway', npm: '@graphql-hive/gateway-runtime', installed: 'federation' },
    ],
  },
  {
    title: 'Browsers',
    about:
      'A purchase with `<psa-checkout>`, as a person makes it. A PIX and the page for a card, in Chromium, Firefox and WebKit:\n\n![Three columns that look alike](engines.png)',
    features: {
      PIX: engines('by PIX is paid, followed by %s, and found again after a reload'),
      'card, own window': engines('by card in a window of its own (%s) is paid'),
      'card, same window': engines('by card in the same window is canceled, resumed and paid'),
      declined: engines('by card that ends declined can be tried again'),
      expired: engines('by PIX that expires can be tried again'),
      refunded: engines('by card that is refunded says so'),
      'paid after the way back': engines('that is paid after the way back to the button reaches the page'),
    },
    clients: ['Chromium', 'Firefox', 'WebKit'].map((name) => ({ name, hasSavedVersion: true })),
  },
  {
    title: 'Web views of apps',
    about:
      'A purchase with `<psa-checkout>` in the view of an app, by what the app does with a new window. WebKit’s view stands for that of iOS,\nand names itself as that one does.',
    features: {
      PIX: webViews('is paid by PIX'),
      card: webViews('is paid by card in the same view'),
      'card, after the way back': webViews('is paid by card after the way back, behind the link'),
    },
    clients: ['no new window', 'no new window, iOS', 'new window in the same view, iOS'].map((name) => ({
      name,
    })),
  },
  {
    title: 'Frameworks',
    about: 'The recipes of [`<psa-checkout>`](../../widget/docs/recipes.md), on the built package.',
    features: {
      'pays once': (client) =>
        frameworks(
          client === 'React'
            ? 'the recipe for React 19 pays once, mounted twice by strict mode'
            : `the recipe for ${{ Vue: 'Vue 3', Svelte: 'Svelte 5' }[client] ?? client} pays once`,
        ),
    },
    clients: [
      { name: 'React', npm: 'react' },
      { name: 'Vue', npm: 'vue' },
      { name: 'Svelte', npm: 'svelte' },
      { name: 'Angular', npm: '@angular/core' },
    ],
  },
  {
    title: 'Bundlers and frameworks',
    about:
      'Pages that each builds of the packed `<psa-checkout>`; those from Next.js on are rendered on a server. In Chromium each is bought in by PIX\nand by card, its own handler runs, and a chunk is lost once. Parcel keeps a failed import for the life of the page, and Metro makes one\nfile without chunks. `test/engines/lost-chunk.test.ts` loses a chunk in Firefox and WebKit, on a page of Vite’s and one of the\nscript tag.',
    features: {
      PIX: buying('is paid by PIX, and its own handler runs once'),
      card: buying('is paid by card, and its own handler runs once'),
      'after a reload': buying('hears of its paid payment again after a reload'),
      'lost chunk': buying('loads a chunk again that was lost once'),
    },
    clients: [
      { name: 'esbuild', npm: 'esbuild', installed: 'bundlers' },
      { name: 'Rollup', npm: 'rollup', installed: 'bundlers' },
      { name: 'Vite', npm: 'vite', installed: 'bundlers' },
      { name: 'webpack', npm: 'webpack', installed: 'bundlers' },
      { name: 'Rspack', npm: '@rspack/core', installed: 'bundlers' },
      { name: 'Parcel', npm: 'parcel', installed: 'parcel', lacks: ['lost chunk'] },
      { name: 'Metro', npm: 'metro', installed: 'metro', lacks: ['lost chunk'] },
      { name: 'Next.js (Turbopack)', npm: 'next', installed: 'next' },
      { name: 'Next.js (webpack)', npm: 'next', installed: 'next' },
      { name: 'React', npm: 'react', installed: 'bundlers' },
      { name: 'Nuxt', npm: 'nuxt', installed: 'nuxt' },
      { name: 'SvelteKit', npm: '@sveltejs/kit', installed: 'sveltekit' },
      { name: 'Astro', npm: 'astro', installed: 'astro' },
      { name: 'Angular SSR', npm: '@angular/ssr', installed: 'angular' },
    ],
  },
  {
    title: 'React Native',
    about:
      'The recipe of [an application](../../widget/docs/recipes.md#react-native), which Metro bundles with React Native’s own JavaScript: its\n`fetch`, `WebSocket` and `AbortController`. V8 runs it without the globals of a browser or of Node, and Node stands for the native\nside. Hermes compiles it; npm has the Hermes of this version as a compiler alone. That `fetch` reads no event stream: `live` says so.',
    features: {
      PIX: native('starts a payment by PIX, and shows that it is paid'),
      card: native('starts a payment by card, and shows that it is paid'),
      'over a cut': native('misses no status while its connection is cut, and shows none twice'),
      'all payments': native('follows all payments of an account by the recipe for graphql-ws, over a cut'),
      'what it lacks': native('learns that its fetch reads no event stream, and by what it can follow'),
      Hermes: native('is compiled by Hermes'),
    },
    clients: [{ name: 'React Native', npm: 'react-native', installed: 'react-native' }],
  },
  {
    title: 'HTTP',
    about:
      'The HTTP clients of other languages, each with one call of a kind: `npm run conformance -- http`. Java’s\nasks to change to HTTP/2, and Apache’s to TLS, which a server may ignore. Apache’s requests are recorded ones.',
    features: Object.fromEntries(
      ['query', 'mutation', 'rest get', 'rest post', 'gzip', 'keep-alive', 'webhook'].map((each) => [
        each,
        called(each),
      ]),
    ),
    clients: Object.keys(HTTP).map((name) => ({
      name,
      hasSavedVersion: true,
      ...(name === 'Apache HttpClient' && { lacks: ['mutation', 'rest post', 'webhook'] }),
    })),
  },
  {
    title: 'Webhooks',
    about: 'The signature of a webhook; those of other languages are in the table above.',
    features: {
      accepts: (client) =>
        client === 'standardwebhooks'
          ? inFile('webhooks/signing.test.ts')(
              'A standard verifier accepts a signature with every secret that the server makes',
            )
          : inFile('live/server.test.ts')(
              'reads a webhook from a Request, from Node, and from a body that was read',
            ),
      refuses: (client) =>
        client === 'standardwebhooks'
          ? inFile('webhooks/signing.test.ts')('A standard verifier refuses a body with any changed byte')
          : inFile('live/server.test.ts')('refuses %s'),
    },
    clients: [{ name: 'standardwebhooks', npm: 'standardwebhooks' }, { name: '@psa/checkout/server' }],
  },
];

/** The cells of a row: the evidence of each feature, or null. @param {Table} table @param {Client} client */
export function cellsOf({ features }, { name, lacks = [] }) {
  return Object.entries(features).map(([feature, evidence]) => {
    if (lacks.includes(feature)) return null;
    return typeof evidence === 'function' ? evidence(name) : evidence;
  });
}

/** The test files whose results the table shows. The programs of HTTP clients have results of their own. */
export function citedFiles() {
  const cells = TABLES.flatMap((table) => table.clients.flatMap((client) => cellsOf(table, client)));
  const files = cells.flatMap((cell) => (cell && TEST_FILE.test(cell.file) ? [cell.file] : []));
  return [...new Set(files)];
}

const TEST_FILE = /-?test\.tsx?$/;
