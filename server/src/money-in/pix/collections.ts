import { NotFoundError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import {
  type Change,
  type Collection,
  joined,
  loadRecords,
  put,
  type Reader,
  type State,
  type Writes,
} from '../../state/commit/commit.ts';
import {
  closeOpenPayments,
  namesOf,
  type Order,
  type OrderPayments,
  readToClose,
} from '../../state/commit/orders.ts';
import type { ProductContent, ProductSale } from '../../state/commit/product-content.ts';
import type { Sql } from '../../state/db/database.ts';
import { writesOfReturn } from '../returns/collections.ts';
import { returnIdOf, type StoredReturn } from '../returns/model.ts';
import type { RecordedCredit, ShareMove } from './credit.ts';
import { type CodeDecisions, type PixChange, type PixRules, wasAnnounced } from './decisions.ts';
import { decideDisputeBegin, decideDisputeEnd, type PixClaim } from './disputing.ts';
import type { CodedResource, HostedPix, Payer, Recurrence, StoredPixResource } from './model.ts';
import { creditTable, type PaidOrder, paidOrderTable } from './store.ts';

/** The recorded credits of the bank, by their end-to-end id. */
export const credits: Collection<RecordedCredit> = creditTable;

/** The orders that a PIX has closed. An order stays with the first PIX that has closed it. */
const paidOrders: Collection<PaidOrder> = paidOrderTable;

/** The subaccounts that receive shares; the slice that owns them provides them. */
export interface Beneficiaries {
  read(reader: Reader, subaccountId: string): Promise<unknown>;
  /** The balance of a subaccount; null if there is none. */
  balanceOf(state: State, subaccountId: string): number | null;
  /** Writes a line of a statement, and posts it. */
  writesOf(state: State, move: ShareMove): Writes;
}

/** A family of resources that have PIX codes. Its slice provides its records and its rules. */
export interface PixFamily<R extends CodedResource> extends PixRules<R> {
  readonly decisions: CodeDecisions<R>;
  readonly records: Collection<R>;
  isId(text: string): boolean;
  /** The ids that a resource with this txid can have. */
  idsOfTxid(txid: string): string[];
  /** Finds a resource of any account, for the payer's page, which knows the id alone. */
  selectHosted(sql: Sql, id: string): Promise<{ tenant: Tenant; merchantName: string; resource: R } | null>;
  orderOf(resource: R): Order;
  /** The sale of a resource for a product; null for any other. Omitted if the family sells no products. */
  saleOf?(resource: R): ProductSale | null;
  payerOf(resource: R): Payer;
  /** The recurrence that the code authorizes; omitted if it authorizes none. */
  recurrenceOf?(resource: R): Recurrence;
  hostedOf(resource: R): HostedPix;
  /** The members of a resource that a return of its money shows. */
  returnDetailsOf(resource: R): Pick<StoredReturn, 'resource' | 'externalId' | 'keptPayment'> & {
    metadata: string | null;
    callbackUrl: string | null;
  };
  /** The writes of a step that only this family has. */
  moreWritesOf?(change: PixChange<R>): Writes;
  /** The event of a step; omitted if `moreWritesOf` makes the events. */
  eventOf?(resource: R, previousStatus: R['status'] | null): NonNullable<Writes['events']>[number];
}

/** The records by which the order's other payments see that this one has closed it. */
export function closedOrders(
  { checkoutAttempt, externalId }: Pick<Order, 'checkoutAttempt' | 'externalId'>,
  resourceId: string,
  paidAt: Date,
): Change[] {
  return Object.entries({ attempt: checkoutAttempt, external_id: externalId }).flatMap(([kind, name]) =>
    name === null ? [] : [put(paidOrders, { kind: kind as PaidOrder['kind'], name, resourceId, paidAt })],
  );
}

/** Creates the port by which the slices of other methods see the payments of an order that have closed it. */
export function orderPaymentsOf<R extends StoredPixResource>({
  records,
  idOf,
}: Pick<PixFamily<R>, 'records' | 'idOf'>): Pick<OrderPayments, 'read' | 'paymentsOf' | 'selectPaid'> {
  const toOrderPayment = (paid: R) => ({
    id: idOf(paid),
    status: paid.status,
    paidAt: paid.paidAt,
    canceledAt: null,
  });
  return {
    read: (reader, order) =>
      Promise.all(
        namesOf(order).map(async (name) => {
          const paid = await reader.load(paidOrders, name);
          if (paid) await reader.load(records, paid.resourceId);
        }),
      ),
    paymentsOf: (state, order) =>
      namesOf(order).flatMap((name) => {
        const paid = state.get(paidOrders, name);
        return paid ? [toOrderPayment(state.need(records, paid.resourceId))] : [];
      }),
    async selectPaid(sql, tenant, order) {
      const paid = await loadRecords(paidOrders, sql, tenant, namesOf(order));
      const ids = paid.map(({ resourceId }) => resourceId);
      return (await loadRecords(records, sql, tenant, ids)).map(toOrderPayment);
    },
  };
}

/** Translates a step of a resource into the writes of the resource itself: its records, its postings, its event and its tasks. */
export function writesOfPix<R extends CodedResource>(
  family: PixFamily<R>,
  change: PixChange<R>,
): Writes & { records: Change[] } {
  const { previous, resource, credit, transactions, due, done, announced } = change;
  const id = family.idOf(resource);
  const { paidAt = null } = resource;
  const hasBeenPaid = paidAt !== null && previous?.paidAt == null;
  const writes = {
    records: [
      put(family.records, resource),
      ...(credit ? [put(credits, credit)] : []),
      ...(hasBeenPaid ? closedOrders(family.orderOf(resource), id, paidAt) : []),
    ],
    transactions,
    events:
      announced && family.eventOf
        ? [family.eventOf(resource, previous && wasAnnounced(previous) ? previous.status : null)]
        : [],
    tasks: due.map(({ kind, key = id, at }) => ({ kind, key, at })),
    done: done.map((kind) => ({ kind, key: id })),
  };
  const all = joined(writes, writesOfReturnedCredit(family, change));
  return family.moreWritesOf ? joined(all, family.moreWritesOf(change)) : all;
}

/** The return of a step's credit, if it is not accepted. */
function writesOfReturnedCredit<R extends CodedResource>(
  family: PixFamily<R>,
  { credit, resource }: PixChange<R>,
): Writes {
  if (!credit?.cause) return {};
  const { endToEndId, amountCents, cause, receivedAt, returnedAt, failedReturns } = credit;
  const { metadata, callbackUrl, ...details } = family.returnDetailsOf(resource);
  const stored = {
    ...{ returnId: returnIdOf(endToEndId), ...details, amountCents, cause, endToEndId },
    ...{ receivedAt, returnedAt, railId: endToEndId, failedReturns },
  };
  return writesOfReturn(stored, { metadata, callbackUrl });
}

/**
 * Translates a step of a resource into all of its writes: the resource's own, those of the subaccounts that
 * get or give a share, and those of the product content that the payer gets or loses.
 */
export function allWritesOfPix<R extends CodedResource>(
  family: PixFamily<R>,
  change: PixChange<R>,
  {
    beneficiaries,
    content,
    state,
  }: { beneficiaries: Beneficiaries; content?: ProductContent | undefined; state: State },
): Writes {
  const writes = change.moves.reduce<Writes>(
    (joinedWrites, move) => joined(joinedWrites, beneficiaries.writesOf(state, move)),
    writesOfPix(family, change),
  );
  const { previous, resource } = change;
  const sale = family.saleOf?.(resource);
  if (!sale || !content || !previous || previous.status === resource.status) return writes;
  if (resource.status === 'paid') return joined(writes, content.deliver(state, sale, resource.paidAt!));
  return resource.status === 'refunded' ? joined(writes, content.revoke(state, sale)) : writes;
}

/** A refund as its resource sees it. */
interface RefundOfResource {
  refundId: string;
  amountCents: number;
  isAutomatic: boolean;
}

/** Creates the decisions of a family that refunds call. */
export function refundableOf<R extends StoredPixResource>(
  family: PixFamily<R>,
  {
    title,
    beneficiaries,
    content,
    methods = [],
    detailsOf,
    refunds,
  }: {
    /** The resource at the beginning of a sentence. */
    title: string;
    beneficiaries: Beneficiaries;
    /** The port of the products' content; omitted if the family sells no products. */
    content?: ProductContent;
    /** The payments of orders by each method; omitted if the family's resources have no order. */
    methods?: readonly OrderPayments[];
    /** The details of a resource that the webhooks of its refunds need. */
    detailsOf(resource: R): { metadata: string | null; callbackUrl: string | null };
    refunds: {
      decideRefundBegin(
        resource: R,
        request: { refundId: string; amountCents: number | null; isAutomatic: boolean },
        state: Pick<State, 'balances' | 'now'> & { balanceOf(subaccountId: string): number },
      ): { change: PixChange<R>; amountCents: number };
      decideRefundCompleted(resource: R, refund: RefundOfResource, now: Date): PixChange<R>;
      decideRefundFailed(resource: R, refund: RefundOfResource, balances: State['balances']): PixChange<R>;
    };
  },
) {
  return {
    async read(reader: Reader, id: string) {
      const resource = await reader.load(family.records, id);
      for (const { subaccountId } of resource ? family.sharesOf(resource) : [])
        await beneficiaries.read(reader, subaccountId);
      const sale = resource && family.saleOf?.(resource);
      if (sale) await content?.read(reader, sale);
      if (resource) await readToClose(methods, reader, family.orderOf(resource));
    },

    begin(
      state: State,
      id: string,
      request: { refundId: string; amountCents: number | null; isAutomatic: boolean },
    ) {
      const resource = state.get(family.records, id);
      if (!resource) throw new NotFoundError(`${title} not found`);
      const { change, amountCents } = refunds.decideRefundBegin(resource, request, {
        balances: state.balances,
        now: state.now,
        balanceOf: (subaccountId) => beneficiaries.balanceOf(state, subaccountId)!,
      });
      return {
        amountCents,
        railChargeId: resource.endToEndId!,
        details: detailsOf(resource),
        writes: allWritesOfPix(family, change, { beneficiaries, content, state }),
      };
    },

    end(state: State, id: string, refund: RefundOfResource & { status: 'completed' | 'failed' }) {
      const resource = state.need(family.records, id);
      const change =
        refund.status === 'completed'
          ? refunds.decideRefundCompleted(resource, refund, state.now)
          : refunds.decideRefundFailed(resource, refund, state.balances);
      const writes = allWritesOfPix(family, change, { beneficiaries, content, state });
      const others =
        change.resource.status === 'refunded'
          ? closeOpenPayments(methods, state, family.orderOf(resource), writes)
          : {};
      return { details: detailsOf(resource), writes: joined(writes, others), mustRepeat: false };
    },
  };
}

/** Creates the decisions of a family that disputes call. */
export function disputableOf<R extends StoredPixResource>(
  family: PixFamily<R>,
  { title }: { title: string },
) {
  return {
    idsOfTxid: family.idsOfTxid,
    read: (reader: Reader, id: string) => reader.load(family.records, id),
    has: (state: State, id: string) => state.get(family.records, id) !== null,

    begin(state: State, id: string, claim: PixClaim) {
      const resource = state.get(family.records, id);
      if (!resource) throw new NotFoundError(`${title} not found`);
      const begun = decideDisputeBegin(resource, claim, state.now);
      return begun && { ...begun, writes: begun.change ? writesOfPix(family, begun.change) : {} };
    },

    end: (state: State, id: string, { amountCents }: { amountCents: number }) =>
      writesOfPix(family, decideDisputeEnd(state.need(family.records, id), amountCents)),
  };
}
