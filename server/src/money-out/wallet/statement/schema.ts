import { builder } from '../../../api/graphql/builder.ts';
import type { Context } from '../../../api/graphql/context.ts';
import { addEntity } from '../../../api/graphql/federation.ts';
import type { Types } from '../../../api/graphql/mutations.ts';
import { BOTH_WAYS, connectionArguments, readConnection, totalOf } from '../../../api/graphql/paging.ts';
import { resolveResource } from '../../../api/graphql/resources.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { readFilter } from '../../../kernel/list-filter.ts';
import { ltcText } from '../../../kernel/money.ts';
import { tenantKey } from '../../../kernel/tenant.ts';
import { WalletEntryKindEnum } from '../enums-schema.ts';
import { figuresOf } from '../figures-schema.ts';
import { WalletEntryFilterInput } from '../filter-schema.ts';
import type { Wallet } from '../model.ts';
import { WalletRef, WalletUpdateRef } from '../schema.ts';
import {
  type ClosingLine,
  type ClosingReport,
  commitOf,
  type StatementCommit,
  type StatementService,
  type WalletAt,
  type WalletBucket,
  type WalletChanges,
  type WalletEntry,
  type WalletEntryFilter,
} from '../statement.ts';

declare module '../../../api/graphql/services.ts' {
  interface PaymentsService {
    statement: StatementService;
  }
}

/** @throws PermissionError */
function statementOf(context: Context) {
  const { tenant } = assertReader(context);
  return { tenant, statement: context.services.statement };
}

/** @throws PermissionError */
function assertReader(context: Context) {
  const caller = callerOf(context);
  assertMay(caller, 'statement.read');
  return caller;
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

const WalletFiguresRef = builder.objectRef<Wallet>('WalletFigures').implement({
  description: 'The figures of a wallet at one moment of its statement.',
  fields: (t) => figuresOf(t),
});

/** The fields of what an entry, or the entries of one kind, have moved. */
function changesOf<Shape extends WalletChanges>(
  builderOfFields: PothosSchemaTypes.ObjectFieldBuilder<Types, Shape>,
) {
  const t = builderOfFields as unknown as PothosSchemaTypes.ObjectFieldBuilder<Types, WalletChanges>;
  return {
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      description: 'The signed change of balanceCents.',
    }),
    subaccountsDeltaCents: t.expose('subaccountsDeltaCents', {
      type: 'Cents',
      description: 'The signed change of subaccountsBalanceCents.',
    }),
    pendingReleaseDeltaCents: t.expose('pendingReleaseDeltaCents', {
      type: 'Cents',
      description: 'The signed change of pendingReleaseCents.',
    }),
    disputeBlockedDeltaCents: t.expose('disputeBlockedDeltaCents', {
      type: 'Cents',
      description: 'The signed change of disputeBlockedCents.',
    }),
    receivableDeltaCents: t.expose('receivableDeltaCents', {
      type: 'Cents',
      description:
        'The signed change of receivableCents: above 0 for a new debt, below 0 for one that is paid.',
    }),
    cryptoDeltaLtc: t.field({
      type: 'Decimal',
      description: 'The signed change of cryptoBalanceLtc.',
      resolve: ({ litoshiDelta }) => ltcText(litoshiDelta),
    }),
    serviceFeeCents: t.expose('feeCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The fee that the service took in it; below 0 for a fee that it gave back. Null where an upstream service does not show a fee.',
    }),
  };
}

/** The field of what nothing explains. */
function unexplainedOf<Shape extends { unexplainedCents: number }>(
  builderOfFields: PothosSchemaTypes.ObjectFieldBuilder<Types, Shape>,
) {
  const t = builderOfFields as unknown as PothosSchemaTypes.ObjectFieldBuilder<
    Types,
    { unexplainedCents: number }
  >;
  return {
    unexplainedCents: t.expose('unexplainedCents', {
      type: 'Cents',
      description:
        'In front of an upstream service: what no entry but those of the kind OBSERVED explains of the change of balanceCents since the wallet was first seen. Otherwise 0.',
    }),
  };
}

const WalletEntryRef = builder.objectRef<WalletEntry>('WalletEntry');

addEntity(WalletEntryRef);
builder.node(WalletEntryRef, {
  // Each account counts its own entries, so the id names the account too.
  id: { resolve: ({ number }, _, context) => `${tenantKey(callerOf(context).tenant)}/${number}` },
  loadOne: (id, context) => {
    const { tenant, statement } = statementOf(context);
    const number = id.slice(tenantKey(tenant).length + 1);
    const isOwn = id === `${tenantKey(tenant)}/${number}` && /^\d{1,15}$/.test(number);
    return isOwn ? statement.find(tenant, Number(number)) : null;
  },
  isTypeOf: (value) =>
    typeof value === 'object' && value !== null && 'pendingReleaseDeltaCents' in value && 'after' in value,
  description:
    'One movement of the account’s money: what a figure of the wallet changed by. An entry never changes, and is never removed. In front of an upstream service it is made when the wallet is seen, and a correction is an entry of its own.',
  fields: (t) => ({
    kind: t.field({
      type: WalletEntryKindEnum,
      description: 'The reason of the movement.',
      resolve: ({ kind }) => kind,
    }),
    reference: t.exposeString('reference', {
      nullable: true,
      description:
        'The id or the code of what moved the money: of a refund or a dispute that of its payment or charge.',
    }),
    resource: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      description:
        'The payment, charge, refund, dispute, payout or subaccount of the entry. Null for money that arrived by itself, and for a credential that may not read it.',
      resolve: ({ resource }, _, context, info) => resolveResource(resource, context, info) as never,
    }),
    subaccountId: t.exposeString('subaccountId', {
      nullable: true,
      description: 'The subaccount whose money moved; null if none of a subaccount did.',
    }),
    ...changesOf(t),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'The time of the entry, never before that of the entry before it.',
    }),
    after: t.expose('after', {
      type: WalletFiguresRef,
      description: 'The wallet right after the entry.',
    }),
    ...unexplainedOf(t),
    seenAt: t.expose('seenAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'In front of an upstream service: the time at which the movement was seen; the entry was made when the wallet was seen next. Otherwise null.',
    }),
  }),
});

const WalletEntryConnection = builder.connectionObject(
  {
    type: WalletEntryRef,
    name: 'WalletEntryConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'WalletEntryEdge' },
);

const WalletAtRef = builder.objectRef<WalletAt>('WalletAt').implement({
  description: 'The wallet at an instant.',
  fields: (t) => ({
    instant: t.expose('instant', { type: 'DateTime', description: 'The requested instant.' }),
    figures: t.expose('figures', { type: WalletFiguresRef, description: 'The wallet at that instant.' }),
    entry: t.expose('entry', {
      type: WalletEntryRef,
      nullable: true,
      description: 'The last entry at this instant or before it.',
    }),
    ...unexplainedOf(t),
    seenAt: t.expose('seenAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'In front of an upstream service: the time at which its wallet was seen with these figures. Otherwise null.',
    }),
  }),
});

export const HistoryIntervalEnum = builder.enumType('HistoryInterval', {
  description: 'The length of the parts of a history or of totals, by the clocks of a time zone.',
  values: {
    HOUR: { value: 'hour', description: 'One hour, which begins at a full one.' },
    DAY: { value: 'day', description: 'A day, from midnight on.' },
    MONTH: { value: 'month', description: 'A month of the calendar.' },
  } as const,
});

const WalletBucketRef = builder.objectRef<WalletBucket>('WalletBucket').implement({
  description: 'A part of a history.',
  fields: (t) => ({
    startsAt: t.expose('startsAt', { type: 'DateTime', description: 'The start of the bucket.' }),
    endsAt: t.expose('endsAt', {
      type: 'DateTime',
      description: 'The end of the bucket, which is the start of the next one.',
    }),
    closing: t.expose('closing', {
      type: WalletFiguresRef,
      description: 'The wallet at the end of the bucket.',
    }),
    inCents: t.expose('inCents', {
      type: 'Cents',
      description: 'The sum of the entries that raised balanceCents.',
    }),
    outCents: t.expose('outCents', {
      type: 'Cents',
      description: 'The sum of the entries that lowered balanceCents, without its sign.',
    }),
  }),
});

const ClosingLineRef = builder.objectRef<ClosingLine>('ClosingLine').implement({
  description: 'The sum of the entries of one kind.',
  fields: (t) => ({
    kind: t.field({
      type: WalletEntryKindEnum,
      description: 'The reason of the movement.',
      resolve: ({ kind }) => kind,
    }),
    count: t.exposeInt('count', { description: 'The number of entries.' }),
    ...changesOf(t),
  }),
});

const ClosingReportRef = builder.objectRef<ClosingReport>('ClosingReport').implement({
  description:
    'A period of the statement. Each figure of `opening`, with the sum of its changes in `lines`, is that of `closing`.',
  fields: (t) => ({
    startsAt: t.expose('startsAt', { type: 'DateTime', description: 'The start of the period.' }),
    endsAt: t.expose('endsAt', {
      type: 'DateTime',
      description: 'The end of the period, which is not in it.',
    }),
    opening: t.expose('opening', {
      type: WalletFiguresRef,
      description:
        'The wallet right before the period; in front of an upstream service, when it was last seen before the period, or first seen inside it.',
    }),
    openingSeenAt: t.expose('openingSeenAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'In front of an upstream service: the time at which its wallet was seen as `opening`; null if it was not. Otherwise null.',
    }),
    closing: t.expose('closing', {
      type: WalletFiguresRef,
      description:
        'The wallet at the end of the period; in front of an upstream service, when it was last seen before that.',
    }),
    closingSeenAt: t.expose('closingSeenAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The same of `closing`.',
    }),
    lines: t.expose('lines', { type: [ClosingLineRef], description: 'One line for each kind, by its name.' }),
    ...unexplainedOf(t),
  }),
});

// ── Fields ──────────────────────────────────────────────────────────────────────────────────────

builder.objectFields(WalletRef, (t) => ({
  statement: t.field({
    type: WalletEntryConnection,
    description: `All movements of the account’s money, newest first. ${BOTH_WAYS}`,
    args: { ...connectionArguments(t.arg), filter: t.arg({ type: WalletEntryFilterInput }) },
    resolve: async (_, { filter: given, ...args }, context) => {
      const { tenant, statement } = statementOf(context);
      const filter = readFilter<WalletEntryFilter>(given);
      return readConnection(context.listCursors('wallet.statement'), args, {
        list: (range) => statement.list(tenant, { ...filter, ...range }),
        node: ({ entry }) => entry,
        total: () => statement.count(tenant, filter),
      });
    },
  }),
  at: t.field({
    type: WalletAtRef,
    nullable: true,
    description:
      'The wallet after every entry up to an instant; of an instant to come, the wallet now. Null before the first entry; in front of an upstream service, before the wallet was first seen.',
    args: {
      instant: t.arg({
        type: 'DateTime',
        required: true,
        description: 'The time up to which entries count, with those at it.',
      }),
    },
    resolve: (_, { instant }, context) => {
      const { tenant, statement } = statementOf(context);
      return statement.at(tenant, instant);
    },
  }),
  history: t.field({
    type: [WalletBucketRef],
    description: 'The wallet over a period of at most 366 days, in at most 400 buckets, oldest first.',
    args: {
      startsAt: t.arg({
        type: 'DateTime',
        required: true,
        description: 'The start of the period.',
      }),
      endsAt: t.arg({
        type: 'DateTime',
        required: true,
        description: 'The end of the period, which is not in it.',
      }),
      interval: t.arg({
        type: HistoryIntervalEnum,
        required: true,
        description: 'The length of the buckets; the first and the last may be shorter.',
      }),
      timeZone: t.arg.string({
        required: true,
        defaultValue: 'America/Sao_Paulo',
        description: 'The name of the time zone in which days and months begin.',
      }),
    },
    resolve: (_, request, context) => {
      const { tenant, statement } = statementOf(context);
      return statement.history(tenant, request);
    },
  }),
  closing: t.field({
    type: ClosingReportRef,
    description: 'The sums of a period of at most 366 days by kind, between the wallets at its two ends.',
    args: {
      startsAt: t.arg({
        type: 'DateTime',
        required: true,
        description: 'The start of the period.',
      }),
      endsAt: t.arg({
        type: 'DateTime',
        required: true,
        description: 'The end of the period, which is not in it.',
      }),
    },
    resolve: (_, period, context) => {
      const { tenant, statement } = statementOf(context);
      return statement.closing(tenant, period);
    },
  }),
}));

builder.objectField(WalletUpdateRef, 'entries', (t) =>
  t.field({
    type: [WalletEntryRef],
    description:
      'The entries of the statement that the change has written, oldest first; empty in a first state. A state that walletUpdates leaves out takes its entries with it; accountUpdates leaves out none.',
    resolve: ({ item: { commit } }, _, context) => {
      const { tenant, statement } = statementOf(context);
      return commit ? statement.ofCommit(tenant, commit) : [];
    },
  }),
);

// ── Subscription ────────────────────────────────────────────────────────────────────────────────

const StatementUpdate = builder
  .objectRef<{ cursor: string; commit: StatementCommit }>('StatementUpdate')
  .implement({
    description: 'The entries that one change of the account has written.',
    fields: (t) => ({
      cursor: t.exposeString('cursor', {
        description: 'The cursor to pass as `after` in order to continue behind this update.',
      }),
      occurredAt: t.field({
        type: 'DateTime',
        description: 'The time of the change.',
        resolve: ({ commit }) => commit.occurredAt,
      }),
      entries: t.field({
        type: [WalletEntryRef],
        description: 'The entries, oldest first.',
        resolve: ({ commit }, _, context) => {
          const { tenant, statement } = statementOf(context);
          return statement.ofCommit(tenant, commit);
        },
      }),
    }),
  });

builder.subscriptionField('statementUpdates', (t) =>
  t.field({
    type: StatementUpdate,
    description: 'Every entry of the wallet’s statement, as it is written; no first state, only entries.',
    args: { after: t.arg.string() },
    subscribe: (_, { after }, context) => {
      assertReader(context);
      return context.subscribe<{ cursor: string; commit: StatementCommit }>({
        topic: { resource: 'wallet' },
        matches: (event) => commitOf(event) !== null,
        after,
        toItem: (event, cursor) => ({ cursor, commit: commitOf(event)! }),
        isLast: () => false,
      });
    },
    resolve: (update) => update,
  }),
);
