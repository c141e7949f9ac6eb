/**
 * The house of the server: what each file of server/src may import. test/architecture.test.ts holds all files to it.
 */

/**
 * The wings, from the ground up, and in each its rooms, from the ground up. A file may import its own room and whatever stands
 * before it. A wing without rooms is one room.
 *
 * @type {Record<string, string[]>}
 */
export const WINGS = {
  kernel: [],
  state: ['db', 'events', 'ledger', 'work', 'commit'],
  rails: [],
  upstream: [],
  api: ['http', 'checkout-page', 'limits', 'graphql', 'operations'],
  access: [],
  'money-out': ['wallet', 'payouts', 'subaccounts'],
  'money-in':
    'checkout receiving returns ltc pix card-payments charges payments sales subscriptions refunds disputes sandbox'.split(
      ' ',
    ),
  catalogue: ['products', 'deliveries', 'store'],
  webhooks: [],
  requests: [],
  programs: ['retention', 'config', 'console', 'demo', 'verify', 'ops', 'simulator', 'modes', '.', 'cli'],
};

/** The wings whose rooms are slices of the domain: their files are layers. */
export const SLICES = ['access', 'money-out', 'money-in', 'catalogue', 'webhooks', 'requests'];

/** The rooms whose layers other slices may import: what families of payments share. Of all others they import what is pure. */
export const SHARED = ['checkout', 'receiving', 'returns', 'ltc', 'pix', 'payments'].map(
  (room) => `money-in/${room}`,
);

/**
 * A layer of a slice.
 *
 * @typedef {object} Layer
 * @property {string} name
 * @property {RegExp} files the paths of its files within their room; a file has the first layer that fits
 * @property {string[]} own the layers of its own slice that it imports
 * @property {string[]} others the layers of other slices
 * @property {string[]} ground the rooms and files of other wings, beside kernel
 */

/** @type {Layer[]} */
export const LAYERS = [
  // The payer's page of a method.
  layer('page', /^page\//, 'pure page', 'pure', 'api/http api/checkout-page'),
  // The port in front of another service.
  layer('mirror', /mirror\.ts$/, 'pure', 'pure', 'upstream state/commit'),
  layer('commands', /commands\.ts$/, 'pure wire mirror commands', 'pure commands', 'upstream state/commit'),
  layer(
    'remote',
    /^remote\/.*service\.ts$/,
    'pure wire mirror commands collections service remote',
    'pure commands remote',
    'upstream state/db state/commit state/events',
  ),
  // The port on PostgreSQL.
  layer('store', /store\.ts$/, 'pure store', 'pure store', 'state/db'),
  layer(
    'collections',
    /collections\.ts$/,
    'pure store',
    'pure collections',
    'state/commit state/db upstream/seen-money.ts',
  ),
  layer(
    'service',
    /service\.ts$/,
    'pure store collections events',
    'pure collections service',
    'rails state/db state/commit state/work state/ledger api/limits',
  ),
  // Calls between two commits, and what operators change.
  layer(
    'calls',
    /(?:charging|sending|administration|delivery|outbox)\.ts$/,
    'pure store collections service events',
    'pure collections wire',
    'rails state/db state/commit state/work state/events',
  ),
  layer(
    'receive',
    /receive\.ts$/,
    'pure store collections',
    'pure',
    'api/http upstream state/db state/commit state/work',
  ),
  // The events that slices send by webhook.
  layer('events', /sent-events\.ts$/, 'pure wire', 'pure wire', 'state/events'),
  // The interfaces.
  // What `psa upstream check` looks for.
  layer('checks', /checks\.ts$/, 'pure wire', 'pure', 'upstream'),
  layer('wire', /wire\.ts$/, 'pure', 'pure wire', ''),
  layer('routes', /(?:routes|export)\.ts$/, 'pure wire routes', 'pure', 'api/http'),
  layer('schema', /schema\.ts$/, 'pure schema events', 'pure schema', 'api/graphql state/events'),
  // Types, rules, decisions: whatever has no name above.
  layer(
    'pure',
    /\.ts$/,
    'pure',
    'pure',
    'state/ledger/postings.ts state/ledger/journal.ts state/ledger/funds.ts upstream/seen-money.ts',
  ),
];

/** The layers that are imported of every slice: each interface is one over all slices. */
const INTERFACES = ['pure', 'wire', 'schema'];

/** Files with fewer grants than their room. The command reads its arguments before it loads the rest; config is read first. */
const NARROW = [
  { files: 'programs/config/', imports: /^(?:programs\/config|kernel)\/|\/model\.ts$/ },
  { files: 'programs/cli/main.ts', imports: /^programs\/cli\/run\.ts$/ },
  {
    files: 'programs/console/',
    imports:
      /^(?:programs\/console|kernel|api\/http)\/|\/model\.ts$|^access\/(?:keys|sessions)\.ts$|^money-in\/disputes\/files\.ts$|^money-out\/payouts\/batch\.ts$|^webhooks\/(?:bulk|endpoints|tests)\.ts$|^state\/db\/log\.ts$/,
  },
  { files: 'programs/demo/', imports: /^(?:programs\/demo|kernel|api\/http)\/|\/model\.ts$/ },
  {
    files: 'programs/simulator/',
    imports: /^(?:programs\/simulator|kernel|api\/http|rails|state\/db)\/|\/model\.ts$/,
  },
];

/** @param {string} name @param {RegExp} files @param {string} own @param {string} others @param {string} ground @returns {Layer} */
function layer(name, files, own, others, ground) {
  return {
    name,
    files,
    own: own.split(' '),
    others: others.split(' '),
    ground: ground.split(' ').filter(Boolean),
  };
}

/**
 * Says why a file must not import another, both as paths from server/src; null where it may.
 *
 * @param {string} file
 * @param {string} imported
 * @returns {string | null}
 */
export function whyNot(file, imported) {
  const [from, to] = [roomOf(file), roomOf(imported)];
  const narrow = NARROW.find(({ files }) => file.startsWith(files));
  if (narrow && !narrow.imports.test(imported)) return `${narrow.files} may import less`;
  if (ROOMS.indexOf(to) > ROOMS.indexOf(from)) return `${to} stands on ${from}`;
  if (!isSlice(file)) return null;
  const { name, own, others, ground } = layerOf(file);
  if (!isSlice(imported)) {
    const granted = ['kernel', ...ground].some(
      (path) => imported === path || imported.startsWith(`${path}/`),
    );
    return granted ? null : `the layer ${name} does not import ${to}`;
  }
  const needed = layerOf(imported).name;
  if (!(from === to ? own : others).includes(needed)) return `the layer ${name} does not import ${needed}`;
  const isOpen = from === to || INTERFACES.includes(needed) || SHARED.includes(to);
  return isOpen ? null : `${needed} of ${to} is its own`;
}

/** All rooms, from the ground up. */
const ROOMS = Object.entries(WINGS).flatMap(([wing, rooms]) =>
  rooms.length === 0 ? [wing] : rooms.map((room) => (room === '.' ? wing : `${wing}/${room}`)),
);

/** The room of a file. @param {string} file a path from server/src */
export function roomOf(file) {
  const [wing = '', room = '', ...rest] = file.split('/');
  return rest.length > 0 && WINGS[wing]?.includes(room) ? `${wing}/${room}` : wing;
}

/** @param {string} file */
function isSlice(file) {
  return SLICES.some((wing) => file.startsWith(`${wing}/`));
}

/** @param {string} file @returns {Layer} */
function layerOf(file) {
  const path = file.slice(roomOf(file).length + 1);
  const found = LAYERS.find(({ files }) => files.test(path));
  if (!found) throw new Error(`${file} has no layer.`);
  return found;
}
