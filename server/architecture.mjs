/**
 * The imports that each file of server/src may have. `npm run regenerate` makes the linter's rules of this table, and
 * test/architecture.test.ts proves every cell of it.
 *
 * `files` and `others` are paths from server/src, `own` are paths from the file's own top folder (from server/src itself for
 * a file that lies there). `*` is one name or a part of it, `**` any number of folders; `!` takes back what an earlier
 * pattern of the list grants. What lies in the file's own top folder is granted by `own`, all else by `others`. A file of
 * several rows has the last of them, and only that one.
 *
 * @typedef {object} Row
 * @property {string[]} files
 * @property {string[]} own
 * @property {string[]} others
 */

/** Every slice's types, rules and port: pure, so that every other slice can import them. */
const MODELS = '*/**/model.ts';

/** The files of a slice that do more than compute: `store.ts` or `payout-store.ts`, in the slice's folder or in one inside it. */
const LAYERS =
  '**/*{store,collections,service,charging,sending,administration,wire,routes,schema,receive,outbox,delivery,mirror,commands}.ts';

/** The pure files of the slice itself: the model and whatever stands beside it or in a folder, without a row each. */
const RULES = ['**', `!${LAYERS}`, '!{remote,page}/**'];
/** The pure files beside a port over HTTP. */
const REMOTE_RULES = ['remote/**', `!${LAYERS}`];

/** The rules of another service's payments that all methods share: pure, as a model is. */
const RECEIVING = 'receiving/{upstream-payment,poll-interval}.ts';

/** The decisions about whatever a PIX code pays: pure, as a model is. */
const PIX = 'pix/{credit,decisions,refunding,upstream-resource}.ts';

/** The decisions about payments by LTC: pure too. */
const LTC = 'ltc/{decisions,upstream-request}.ts';

/** The starts of payments by tokens in front of another service, which all methods share. */
const TOKEN_STARTS = 'checkout/remote/token-commands.ts';

/** The accounts of the ledger, and the amounts that may be taken from them: pure. */
const LEDGER = 'ledger/{postings,funds}.ts';

/** The records of the payout methods, pure as kernel is: whatever stores, sends or logs a payout follows them. */
const METHODS = 'payouts/methods/**';

const PURE = ['kernel/**', MODELS, METHODS, RECEIVING, PIX, LTC, LEDGER];
/** A service knows the types of the events, and a rail by its interface. */
const SERVICE = [...PURE, 'commit/**', 'db/**', 'work/**', 'rails/*', 'events/event.ts'];
const SUBSCRIPTIONS = 'events/{event,subscribe,subscription,credential}.ts';
const GRAPHQL = ['kernel/**', 'http/**', MODELS, SUBSCRIPTIONS];
const OPS = [
  ...['kernel/**', METHODS, 'access/keys.ts', 'card-payments/tokens/model.ts', 'ltc/model.ts'],
  ...['requests/model.ts', 'store/model.ts'],
];

/** @type {Row[]} */
export const ARCHITECTURE = [
  // A file without a row of its own is pure, as a model is. What needs more gets a row.
  { files: ['*'], own: [], others: ['kernel/**', MODELS] },
  { files: ['*/**'], own: RULES, others: PURE },
  // It reads the environment before anything else is loaded, so it has less.
  { files: ['config/**'], own: ['**'], others: ['kernel/**', MODELS] },

  // The layers of a slice, or of a folder inside it.
  {
    files: ['*/**/*store.ts'],
    own: [...RULES, '**/*store.ts'],
    others: ['kernel/**', 'db/**', '{receiving,checkout}/model.ts'],
  },
  {
    files: ['*/**/*collections.ts'],
    own: [...RULES, '**/*store.ts'],
    others: ['kernel/**', 'commit/**', 'checkout/model.ts'],
  },
  { files: ['*/**/*service.ts'], own: [...RULES, '**/*{store,collections}.ts'], others: SERVICE },
  {
    files: ['*/**/*{charging,sending}.ts', 'access/administration.ts'],
    own: [...RULES, '**/*{store,collections,service}.ts', '!remote/**'],
    others: SERVICE,
  },
  { files: ['*/**/*wire.ts'], own: RULES, others: ['kernel/**', 'receiving/{model,wire}.ts'] },
  {
    files: ['*/**/*routes.ts'],
    own: [...RULES, '**/*wire.ts'],
    others: ['kernel/**', 'http/**', MODELS],
  },
  // The later slice adds its field to the earlier slice's type. Of graphql, a schema has Pothos' builder and what all schemas share.
  {
    files: ['*/**/*schema.ts'],
    own: [...RULES, '**/*schema.ts'],
    others: [
      'kernel/**',
      MODELS,
      '*/**/*schema.ts',
      '!modes/schema.ts',
      'graphql/{account-updates,builder,common-descriptions,context,federation,mutations,paging}.ts',
      SUBSCRIPTIONS,
    ],
  },

  // In front of another service: the port over HTTP, and what it stands on.
  { files: ['*/remote/**'], own: [...RULES, ...REMOTE_RULES], others: PURE },
  {
    files: ['*/remote/*mirror.ts'],
    own: [...RULES, ...REMOTE_RULES],
    others: ['kernel/**', RECEIVING, 'pix/model.ts', 'upstream/**', 'commit/**'],
  },
  {
    files: ['*/remote/*commands.ts'],
    own: [...RULES, ...REMOTE_RULES, '*wire.ts', 'remote/*{mirror,commands}.ts'],
    others: ['kernel/**', MODELS, 'upstream/**', 'commit/**'],
  },
  {
    files: ['*/remote/*service.ts'],
    own: [...RULES, ...REMOTE_RULES, '*wire.ts', 'remote/*{mirror,commands,service}.ts'],
    others: ['kernel/**', MODELS, RECEIVING, 'upstream/**', 'commit/**', 'events/**'],
  },

  // Of the families of PIX, their core has the lookups and the lists.
  {
    files: ['{payments,charges}/remote/service.ts'],
    own: [...RULES, ...REMOTE_RULES, '*wire.ts', 'remote/*{mirror,commands}.ts'],
    others: ['kernel/**', MODELS, TOKEN_STARTS, 'pix/remote/service.ts', 'upstream/**'],
  },

  // A token starts its payments in one way, whichever method pays it: in front of another service, and in this one.
  {
    files: ['{payments,card-payments}/remote/commands.ts'],
    own: [...RULES, ...REMOTE_RULES, '*wire.ts', 'remote/*{mirror,commands}.ts'],
    others: ['kernel/**', MODELS, TOKEN_STARTS, 'upstream/**', 'commit/**'],
  },
  {
    files: ['card-payments/remote/service.ts'],
    own: [...RULES, ...REMOTE_RULES, '*wire.ts', 'remote/*{mirror,commands}.ts'],
    others: ['kernel/**', MODELS, RECEIVING, TOKEN_STARTS, 'upstream/**'],
  },

  {
    files: ['card-payments/service.ts'],
    own: [...RULES, '**/*{store,collections}.ts'],
    others: [...SERVICE, 'checkout/service.ts'],
  },
  // The wallet is how the ledger looks to an account.
  {
    files: ['wallet/service.ts'],
    own: [...RULES, '**/*{store,collections}.ts'],
    others: [...SERVICE, 'ledger/*'],
  },
  {
    files: ['webhooks/receive.ts'],
    own: [...RULES, '*{store,collections}.ts'],
    others: ['kernel/**', 'http/**', 'upstream/**', 'commit/**', 'db/**', 'work/**'],
  },
  // Money that is not kept is listed, whichever method has brought it.
  {
    files: ['card-payments/charging.ts'],
    own: [...RULES, '**/*{store,collections,service}.ts', '!remote/**'],
    others: [...SERVICE, 'returns/collections.ts'],
  },
  // A family reads its resources of any account for the payer's page, so its interface names the database.
  {
    files: ['{pix,ltc}/collections.ts'],
    own: [...RULES, '**/*store.ts'],
    others: ['kernel/**', 'commit/**', 'db/database.ts', 'returns/{model,collections}.ts'],
  },
  // The slices of what PIX codes pay add their own members to what all of it shares.
  {
    files: ['{payments,charges,subscriptions}/store.ts'],
    own: [...RULES, '**/*store.ts'],
    others: ['kernel/**', 'db/**', 'receiving/model.ts', 'pix/{model,store,table-store}.ts', 'ltc/model.ts'],
  },
  {
    files: ['{payments,charges}/collections.ts'],
    own: [...RULES, '**/*store.ts'],
    others: ['kernel/**', 'commit/**', PIX, 'pix/{model,collections}.ts', 'ltc/{model,collections}.ts'],
  },
  {
    files: ['{payments,charges,subscriptions}/service.ts'],
    own: [...RULES, '**/*{store,collections}.ts'],
    others: [...SERVICE, 'checkout/service.ts', 'pix/{collections,service}.ts', 'ltc/collections.ts'],
  },
  {
    files: ['{payments,charges,subscriptions}/wire.ts'],
    own: RULES,
    others: ['kernel/**', 'receiving/{model,wire}.ts', 'pix/{model,wire}.ts', 'ltc/{model,wire}.ts'],
  },
  // Addresses of LTC are those of payouts.
  {
    files: ['ltc/wire.ts'],
    own: RULES,
    others: ['kernel/**', METHODS],
  },
  // A paid cycle of a subscription makes a payment.
  {
    files: ['subscriptions/collections.ts'],
    own: [...RULES, '**/*store.ts'],
    others: [
      ...['kernel/**', 'commit/**', PIX, 'pix/{model,collections}.ts'],
      ...['payments/{model,collections}.ts'],
    ],
  },
  {
    files: ['subscriptions/charging.ts'],
    own: [...RULES, '**/*{store,collections,service}.ts'],
    others: [...SERVICE, 'pix/collections.ts'],
  },
  // Each slice's wire says how its events read.
  {
    files: ['webhooks/outbox.ts'],
    own: [...RULES, '*store.ts'],
    others: ['kernel/**', '*/**/*wire.ts', 'db/**', 'work/**', 'events/event.ts'],
  },
  // So does the description of the events.
  { files: ['webhooks/wire.ts'], own: RULES, others: ['kernel/**', '*/**/*wire.ts'] },
  {
    files: ['webhooks/delivery.ts'],
    own: [...RULES, '*{store,collections}.ts'],
    others: ['kernel/**', 'commit/**', 'db/**', 'work/**'],
  },
  { files: [METHODS], own: ['methods/**'], others: ['kernel/**'] },
  // The payer's page of each method, and the room that all of them share.
  {
    files: ['*/page/**'],
    own: [...RULES, 'page/**'],
    others: ['kernel/**', 'http/**', 'checkout-page/**', 'receiving/model.ts'],
  },
  { files: ['checkout-page/**'], own: ['**'], others: ['kernel/**', 'http/**'] },

  // Pages that use the slices by their ports, and the simulated rails by their controls.
  { files: ['demo/**'], own: RULES, others: ['kernel/**', 'http/**', MODELS] },
  {
    files: ['simulator/{controls,routes}.ts'],
    own: RULES,
    others: ['kernel/**', 'http/**', MODELS, 'rails/simulated/*'],
  },

  // The folders that know no slice, or know it by its model.
  { files: ['kernel/**'], own: ['**'], others: [] },
  { files: ['db/**'], own: ['**'], others: ['kernel/**', METHODS] },
  { files: ['ledger/**'], own: ['**'], others: ['kernel/**', 'db/**'] },
  { files: [LEDGER], own: ['postings.ts'], others: ['kernel/**'] },
  { files: ['rails/*'], own: ['*'], others: ['kernel/**', METHODS] },
  { files: ['rails/simulated/**'], own: ['**'], others: ['kernel/**', METHODS, 'db/**', 'http/**'] },
  { files: ['http/**'], own: ['**'], others: ['kernel/**', 'access/model.ts'] },
  { files: ['work/**'], own: ['**'], others: ['kernel/**', 'db/**'] },
  { files: ['events/**'], own: ['**'], others: ['kernel/**', 'db/**'] },
  { files: ['commit/**'], own: ['**'], others: ['kernel/**', 'db/**', 'ledger/**', 'events/**', 'work/**'] },
  { files: ['limits/**'], own: ['**'], others: ['kernel/**', 'db/**', MODELS] },
  {
    files: ['upstream/**'],
    own: ['**'],
    others: ['kernel/**', 'db/**', 'commit/**', 'work/**', 'events/event.ts'],
  },
  // A pure state machine.
  { files: ['upstream/intents/transitions.ts'], own: [], others: ['kernel/**'] },
  // The known requests of fast/ are answered behind yoga.ts, where nothing else of graphql sees them.
  { files: ['graphql/**'], own: ['**', '!schema.ts', '!fast/**'], others: GRAPHQL },
  { files: ['graphql/yoga.ts', 'graphql/fast/**'], own: ['**', '!schema.ts'], others: GRAPHQL },
  { files: ['modes/schema.ts'], own: ['**', '!fast/**'], others: [...GRAPHQL, '*/**/schema.ts'] },
  {
    files: ['ops/**'],
    own: ['**'],
    others: [...OPS, 'db/**', 'http/**', 'config/config.ts', 'upstream/upstream.ts'],
  },
  // The psa command is a program of its own: nothing imports it.
  { files: ['cli/**'], own: ['**', '!{main,run}.ts'], others: [...OPS, 'ops/**'] },
  { files: ['cli/main.ts'], own: ['run.ts'], others: [] },
  {
    files: ['cli/run.ts'],
    own: ['**', '!main.ts'],
    others: [
      ...OPS,
      ...['ops/**', 'db/**', 'config/config.ts', 'access/{administration,collections,logo}.ts'],
      ...['card-payments/tokens/service.ts', 'ltc/service.ts', 'payments/collections.ts'],
      ...['modes/doubts.ts', 'modes/upstream-check.ts'],
      ...['store/service.ts'],
      ...['commit/commit.ts', 'events/log-tailer.ts'],
    ],
  },

  // Here everything is wired.
  { files: ['modes/**'], own: ['**'], others: ['**', '!{app,main,bundle}.ts', '!cli/**'] },
  { files: ['app.ts'], own: ['*', '!{main,bundle}.ts'], others: ['**', '!cli/**'] },
  { files: ['{main,bundle}.ts'], own: ['*'], others: ['**', '!cli/**'] },
];
