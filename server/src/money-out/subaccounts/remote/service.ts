import { NotFoundError } from '../../../kernel/errors.ts';
import { readPage } from '../../../kernel/lenient-json.ts';
import { matches } from '../../../kernel/list-filter.ts';
import type { Requester } from '../../../kernel/requester.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import {
  type RemoteSlice,
  requestOptionsFor,
  type UpstreamDependencies,
} from '../../../upstream/dependencies.ts';
import { createEndpoints, type Endpoint } from '../../../upstream/endpoint-availability.ts';
import type { Read } from '../../../upstream/reads.ts';
import {
  assertUnfiltered,
  isSuccess,
  notOffered,
  refusalOf,
  toUpstreamError,
  unreadable,
  withNotOffered,
  withUpstreamErrors,
} from '../../../upstream/responses.ts';
import { createStableOffsetList, type OffsetPage } from '../../../upstream/stable-list.ts';
import type { RequestOptions } from '../../../upstream/upstream.ts';
import type { Wallet } from '../../wallet/model.ts';
import {
  matchesFilter,
  type StatementEntry,
  type StatementFilter,
  type Subaccount,
  type SubaccountFilter,
  type SubaccountPayoutService,
  type SubaccountService,
  subaccountConditions,
  unknownSubaccount,
} from '../model.ts';
import { readStatementEntry, readSubaccount } from '../wire.ts';
import { createSender, createSubaccountWith, MAY_WITHDRAW } from './commands.ts';
import { isSubaccountId } from './mirror.ts';
import { createRemotePayouts, type GetOptions, MAX_AGE_MS } from './payout-service.ts';
import { createTransferRequests, entryIdOf, GET_STATEMENT } from './transfer-commands.ts';

/** The pages in which a subaccount is searched by its own number: a twelfth of the budget of a minute. */
const SEARCHED_PAGES = 10;

const GET = { name: 'GET /v1/subaccounts/{id}', inWords: 'looking a subaccount up' };
const LIST = { name: 'GET /v1/subaccounts', inWords: 'listing subaccounts' };
/**
 * Following balances is not offered: no webhook of the service reports a balance, and its statements are read
 * by offset, so a poll could miss entries.
 */
const FOLLOWING = 'Following the balances of subaccounts';

/** Creates the subaccounts over HTTP, with their statements and payouts. */
export function createRemoteSubaccounts(
  dependencies: UpstreamDependencies & {
    /** Reads the wallet, whose figures a refusal contains. */
    readWallet: (tenant: Tenant) => Promise<Wallet>;
  },
): RemoteSlice<SubaccountService & SubaccountPayoutService> {
  const { clock, reads } = dependencies;
  const endpoints = createEndpoints(clock);
  const sender = createSender({ ...dependencies, endpoints });
  const createSubaccount = createSubaccountWith(sender, dependencies);
  const transfers = createTransferRequests({ ...dependencies, endpoints, sender });
  const payouts = createRemotePayouts({
    ...dependencies,
    endpoints,
    sender,
    get,
    readBalance: async (tenant, id) =>
      (await readOne(tenant, id, { priority: 'query', waitMs: 0 })).subaccount?.balanceCents ?? null,
  });

  /**
   * Reads a path; resolves with a success, or an answer whose status `isNone` accepts.
   * @throws RateLimitError, UpstreamFault, PaymentError
   */
  async function get(
    { environment }: Tenant,
    endpoint: Endpoint,
    path: `/v1/${string}`,
    { maxAgeMs = MAX_AGE_MS, ...options }: GetOptions,
    isNone: (status: number) => boolean = (status) => status === 404,
  ): Promise<Read> {
    const read = await endpoints.ask(environment, endpoint, () =>
      reads.get(environment, path, { ...options, maxAgeMs }),
    );
    if (!isSuccess(read) && !isNone(read.status)) throw refusalOf(read, { permissions: MAY_WITHDRAW });
    return read;
  }

  async function readOne(
    tenant: Tenant,
    id: string,
    requestOptions: RequestOptions,
  ): Promise<{ subaccount: Subaccount | null; read: Read | null }> {
    if (!isSubaccountId(id)) return { subaccount: null, read: null };
    const read = await get(tenant, GET, `/v1/subaccounts/${id}`, { requestOptions });
    if (!isSuccess(read)) return { subaccount: null, read };
    const subaccount = readSubaccount(read.body);
    if (!subaccount) throw unreadable();
    return { subaccount, read };
  }

  // ── Lists ──

  /** A list as one requester reads it. */
  interface List {
    tenant: Tenant;
    requester: Requester;
  }

  async function fetchPage<Item>(
    { tenant, requester }: List,
    endpoint: Endpoint,
    path: `/v1/${string}`,
    { limit, offset }: { limit: number; offset: number },
    readItem: (item: unknown) => Item | null,
  ): Promise<OffsetPage<Item>> {
    const query = `${path}?limit=${limit}&offset=${offset}` as const;
    const read = await get(tenant, endpoint, query, { requestOptions: requestOptionsFor(requester) });
    requester.onRead(read.at, read.stale);
    if (!isSuccess(read)) return { items: [], total: 0, at: read.at };
    const found = readPage(read.body, endpoint === LIST ? 'subaccounts' : 'entries');
    if (!found) throw unreadable();
    // If the service gives no total, a full page counts as followed by one more item.
    const isLast = found.items.length < limit;
    return {
      items: found.items.map(readItem),
      total: found.total ?? offset + found.items.length + (isLast ? 0 : 1),
      isTotalKnown: found.total !== null || isLast,
      at: read.at,
    };
  }

  const subaccountPage = (list: List, window: { limit: number; offset: number }) =>
    fetchPage(list, LIST, '/v1/subaccounts', window, readSubaccount);
  const statementPage = (list: List & { subaccountId: string }, window: { limit: number; offset: number }) =>
    fetchPage(list, GET_STATEMENT, `/v1/subaccounts/${list.subaccountId}/statement`, window, (item) =>
      readStatementEntry(list.subaccountId, item),
    );

  const subaccountList = createStableOffsetList<List, Subaccount>({
    keyOf: ({ tenant }) => tenant.environment,
    idOf: ({ id }) => id,
    fetchPage: subaccountPage,
    // A subaccount's balance changes.
    isCacheable: () => false,
  });
  const statements = createStableOffsetList<List & { subaccountId: string }, StatementEntry>({
    keyOf: ({ tenant, subaccountId }) => `${tenant.environment} ${subaccountId}`,
    idOf: entryIdOf,
    fetchPage: statementPage,
    isCacheable: () => true,
  });

  /**
   * Waits for a read, and throws if it shows that the service has no list of subaccounts. @throws
   * PreconditionError, errors of `read`
   */
  const offered = <Value>(read: Promise<Value>) =>
    withNotOffered('Listing subaccounts', withUpstreamErrors(read));

  // ── The port ──

  function serviceFor(requester: Requester): SubaccountService & SubaccountPayoutService {
    const requestOptions = requestOptionsFor(requester);

    async function find(tenant: Tenant, id: string): Promise<Subaccount | null> {
      const { subaccount, read } = await withUpstreamErrors(readOne(tenant, id, requestOptions));
      if (read) requester.onRead(read.at, read.stale);
      return subaccount;
    }

    /** Finds a transfer's entry among the newest of the statement. */
    async function findEntry(tenant: Tenant, subaccountId: string, refId: string) {
      const wants = (entry: StatementEntry) => entry.kind === 'transfer_in' && entry.refId === refId;
      const { items } = await statements.find(
        { tenant, requester, subaccountId },
        { wants, limit: 1, pages: 1 },
      );
      return items[0] ?? null;
    }

    return {
      ...payouts.serviceFor(requester),

      create: createSubaccount,

      async transfer(tenant, input) {
        const { subaccountId, amountCents } = input;
        if (!isSubaccountId(subaccountId)) throw new NotFoundError('Subaccount not found');
        const { refId, entry: answeredEntry, replayed } = await transfers.transfer(tenant, input);
        // The transfer is done, even if nothing can be read now.
        const [subaccount, entry] = await Promise.all([
          find(tenant, subaccountId).catch(() => null),
          answeredEntry ?? findEntry(tenant, subaccountId, refId).catch(() => null),
        ]);
        return {
          subaccount: subaccount ?? unknownSubaccount(subaccountId),
          entry: {
            ...(entry ?? { balanceAfterCents: null, createdAt: clock.now() }),
            subaccountId,
            kind: 'transfer_in',
            refId,
            amountCents,
          },
          replayed,
        };
      },

      // Only the service knows the form of the names that it issues.
      assertNames: () => undefined,
      find,
      async findByExternalId(tenant, externalId) {
        const { items, complete } = await offered(
          subaccountList.find(
            { tenant, requester },
            { wants: (subaccount) => subaccount.externalId === externalId, limit: 1, pages: SEARCHED_PAGES },
          ),
        );
        // The service may have one that it does not show.
        if (items.length === 0 && !complete) throw toUpstreamError(unreadable());
        return items[0] ?? null;
      },
      async findTransfer(tenant, subaccountId, key) {
        const recorded = await transfers.findByKey(tenant, subaccountId, key);
        // The statement's entry has the balance; without it the record of the request is the answer.
        const entry = recorded && (await findEntry(tenant, subaccountId, recorded.refId).catch(() => null));
        return entry ?? recorded;
      },
      async findWithVersion() {
        throw notOffered(FOLLOWING);
      },
      assertAnnounced() {
        throw notOffered(FOLLOWING);
      },
      findMany: (tenant, ids) => Promise.all(ids.map((id) => find(tenant, id))),
      list: (tenant, { end, limit, after, before, ...filter }) =>
        offered(
          subaccountList.list({ tenant, requester }, { end, limit, after, before, ...selectionOf(filter) }),
        ),
      async listPage(tenant, { limit, offset, ...filter }) {
        assertUnfiltered(filter, 'subaccounts');
        return toOffsetPage(await offered(subaccountPage({ tenant, requester }, { limit, offset })));
      },
      count: (tenant, filter = {}) =>
        offered(subaccountList.count({ tenant, requester }, selectionOf(filter))),

      async statement(tenant, subaccountId, range, filter) {
        if (!isSubaccountId(subaccountId)) return { items: [], more: false };
        return withUpstreamErrors(
          statements.list({ tenant, requester, subaccountId }, { ...range, ...scanOf(filter) }),
        );
      },
      async statementPage(tenant, subaccountId, { limit, offset, ...filter }) {
        assertUnfiltered(filter, 'entries of a statement');
        const window = { limit, offset };
        if (!isSubaccountId(subaccountId)) return { items: [], total: 0 };
        return toOffsetPage(
          await withUpstreamErrors(statementPage({ tenant, requester, subaccountId }, window)),
        );
      },
      async countStatement(tenant, subaccountId, filter) {
        return isSubaccountId(subaccountId)
          ? withUpstreamErrors(statements.count({ tenant, requester, subaccountId }, scanOf(filter)))
          : 0;
      },
    };
  }

  return { ...payouts, serviceFor, requests: { ...payouts.requests, ...transfers.kinds } };
}

/** A scan of the subaccounts, which the service does not list by any condition. */
function selectionOf(filter: SubaccountFilter) {
  if (Object.values(filter).every((asked) => asked === undefined)) return {};
  const { createdAfter } = filter;
  return {
    wants: (subaccount: Subaccount) => matches(subaccountConditions, subaccount, filter),
    ...(createdAfter && {
      isBeyond: ({ createdAt }: Subaccount) => createdAt !== null && createdAt < createdAfter,
    }),
  };
}

/** A scan of a statement, which ends at the first entry that is older than the filter asks for. */
function scanOf(filter: StatementFilter | undefined) {
  if (!filter) return {};
  const { createdAfter } = filter;
  return {
    wants: (entry: StatementEntry) => matchesFilter(entry, filter),
    ...(createdAfter && { isBeyond: (entry: StatementEntry) => entry.createdAt < createdAfter }),
  };
}

function toOffsetPage<Item>({ items, total }: OffsetPage<Item>): { items: Item[]; total: number } {
  return { items: items.filter((item) => item !== null), total };
}
