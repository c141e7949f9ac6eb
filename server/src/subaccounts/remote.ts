import { createHash } from 'node:crypto';
import type { Writes } from '../commit/commit.ts';
import { readHead } from '../events/log.ts';
import type { Asker } from '../kernel/asker.ts';
import { plusMs } from '../kernel/clock.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  type PaymentError,
  PermissionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { errandOf, type Facade } from '../upstream/facade.ts';
import { type Found, type Intent, type Look, unavailable } from '../upstream/intents.ts';
import {
  knownByReferences,
  type Observation,
  observed,
  readByReferences,
  writesOfObserved,
} from '../upstream/mirror.ts';
import {
  claimPoll,
  countObserved,
  listObserved,
  type Observed,
  selectObserved,
  selectObservedWithHead,
  selectOpen,
  selectReferences,
  touchObserved,
} from '../upstream/mirror-store.ts';
import { createRankedList, LARGEST_PAGE, type RankedPage } from '../upstream/ranked.ts';
import type { Read } from '../upstream/reads.ts';
import type { Sighting } from '../upstream/sighting.ts';
import { type Errand, type UpstreamAnswer, UpstreamFault } from '../upstream/upstream.ts';
import type { Poller } from '../upstream/watch.ts';
import type { Wallet } from '../wallet/model.ts';
import {
  assertPayoutsAvailable,
  eventOf,
  isFinal,
  mergeSeen,
  newPayoutKey,
  type Placed,
  type RequestPayoutInput,
  referenceKind,
  type SeenPayout,
  type ShownStatementEntry,
  type ShownSubaccount,
  type ShownSubaccountPayout,
  type SubaccountPayoutService,
  type SubaccountService,
  subaccountIdText,
  subaccountPayoutFromJson,
  type TransferInput,
  unknownSubaccount,
} from './model.ts';
import {
  readPage,
  readRefusal,
  readRequestedPayout,
  readStatementEntry,
  readSubaccount,
  readSubaccountPayout,
  readSubaccountPayoutEvent,
  readTransferReference,
} from './wire.ts';

export interface RemoteSubaccounts {
  serviceFor(asker: Asker): SubaccountService & SubaccountPayoutService;
  poll: Poller;
  /** By what a sighting called them, or by our own ids. */
  refresh(tenant: Tenant, references: readonly string[], errand: Errand): Promise<void>;
  /** What a webhook says, where it speaks of a subaccount's payout. */
  sighting(payload: unknown): Sighting | null;
  looks: Readonly<Record<string, Look>>;
}

const RESOURCE = 'subaccount_payout';
const PAYOUT = 'requestSubaccountPayout';
const TRANSFER = 'transferToSubaccount';
const MAY_MANAGE = ['subcontas.gerenciar'];
const MAY_WITHDRAW = ['subcontas.gerenciar', 'subcontas.sacar'];

/** So long an answer is given again, to whoever asks. */
const KEEP_MS = 2_000;
/** A payout seen this long ago is looked at again before it is shown; of many, the first few. */
const OLD_AFTER_MS = 3_000;
const REFRESHED_AT_ONCE = 10;

// How often a followed payout is asked for: soon after it was requested often, later seldom, and of all together no more
// than one in three seconds, which the budget's class of polling has for us.
const POLL_EVERY_MS = { fresh: 3_000, old: 60_000 };
const POLLED_AT_ONCE = 3;
/** Where nothing is open, another instance may have begun something. It costs a look at our own database. */
const IDLE_MS = 15_000;

/** Of a subaccount's statement so many pages are read to find one that is in doubt. */
const STATEMENT_PAGES = 10;
/** A transfer that the service has done is entered in this time, by its clock or by ours. */
const ENTERED_WITHIN_MS = { before: 60_000, after: 5 * 60_000 };

/** Subaccounts over HTTP; their payouts are mirrored here. */
export function createRemoteSubaccounts({
  database,
  committer,
  clock,
  upstream,
  reads,
  intents,
  nudge,
  readWallet,
}: Facade & {
  /** For the figures of a refusal. */
  readWallet: (tenant: Tenant) => Promise<Wallet>;
}): RemoteSubaccounts {
  const { sql } = database;

  // ── Asking ──────────────────────────────────────────────────────────────────────────────────────

  async function get(
    tenant: Tenant,
    path: `/v1/${string}`,
    { errand, keepMs = KEEP_MS }: { errand: Errand; keepMs?: number },
  ): Promise<Read> {
    const read = await reads.get(tenant.environment, path, { errand, keepMs });
    if (read.status !== 200 && read.status !== 404) throw refusalOf(read, MAY_WITHDRAW);
    return read;
  }

  /** A write, which nobody repeats. @throws UpstreamFault, RateLimitError; UpstreamError where there is no such endpoint */
  async function post(tenant: Tenant, path: `/v1/${string}`, body: unknown): Promise<UpstreamAnswer> {
    const errand: Errand = { class: 'money' };
    try {
      return await upstream.send({ environment: tenant.environment, method: 'POST', path, body, errand });
    } catch (error) {
      throw isNotImplemented(error) ? noEndpoint() : error;
    } finally {
      reads.forget(tenant.environment);
    }
  }

  async function readSubaccountNow(
    tenant: Tenant,
    id: string,
    errand: Errand,
  ): Promise<{ subaccount: ShownSubaccount | null; read: Read | null }> {
    if (!isSubaccountId(id)) return { subaccount: null, read: null };
    const read = await get(tenant, `/v1/subaccounts/${id}`, { errand });
    if (read.status === 404) return { subaccount: null, read };
    const subaccount = readSubaccount(read.body);
    if (!subaccount) throw unreadable();
    return { subaccount, read };
  }

  // ── The mirror of payouts ───────────────────────────────────────────────────────────────────────

  async function selectNamed(tenant: Tenant, names: readonly string[]): Promise<Observed | null> {
    const [reference] = await selectReferences(sql, tenant, RESOURCE, names);
    if (!reference) return null;
    return (await selectObserved(sql, tenant, RESOURCE, [reference.id]))[0] ?? null;
  }

  /** The mirrored payout of this subaccount that a reference leads to. */
  async function mirrored(tenant: Tenant, subaccountId: string, reference: string): Promise<Observed | null> {
    const found = await selectNamed(tenant, [nameOf(subaccountId, reference)]);
    return found && found.parent === subaccountId.toLowerCase() ? found : null;
  }

  /** Records what was seen. Where it is nothing new, nobody is kept waiting by the lock. */
  async function record(
    tenant: Tenant,
    seen: SeenPayout,
    { reference, at }: { reference: string; at: Date },
  ): Promise<ShownSubaccountPayout> {
    const names = namesOf(seen, reference);
    const leading = await selectReferences(sql, tenant, RESOURCE, names);
    const [known] =
      leading.length === names.length ? await selectObserved(sql, tenant, RESOURCE, [leading[0]!.id]) : [];
    if (known) {
      const payout = subaccountPayoutFromJson(known.snapshot);
      if (mergeSeen(payout, seen, payout.id) === null) {
        await touchObserved(sql, tenant, RESOURCE, { ids: [payout.id], at });
        return payout;
      }
    }
    const observation = observationOf(seen, { reference, at });
    const id = await committer.change<string>({
      tenant,
      read: observation.read,
      decide(state) {
        const { resourceId, writes } = observation.decide(state);
        return { outcome: resourceId, writes };
      },
    });
    return mirroredById(tenant, id);
  }

  async function mirroredById(tenant: Tenant, id: string): Promise<ShownSubaccountPayout> {
    const [found] = await selectObserved(sql, tenant, RESOURCE, [id]);
    if (!found) throw new Error(`subaccount payout ${id} is not in the mirror`);
    return subaccountPayoutFromJson(found.snapshot);
  }

  /** Asks for a payout and records it; null where the service says that there is none. */
  async function fetchPayout(
    tenant: Tenant,
    subaccountId: string,
    reference: string,
    { errand, keepMs }: { errand: Errand; keepMs?: number },
  ): Promise<{ payout: ShownSubaccountPayout | null; read: Read }> {
    const path = payoutPath(subaccountId, reference);
    const read = await reads.get(tenant.environment, path, { errand, keepMs: keepMs ?? KEEP_MS });
    // 400 is a form that this service does not have.
    if (read.status === 404 || read.status === 400) {
      // What was not there some time ago may be there now.
      if (read.stale) throw cannotAsk();
      return { payout: null, read };
    }
    if (read.status !== 200) throw refusalOf(read, MAY_WITHDRAW);
    const seen = readSubaccountPayout(read.body);
    if (!seen || !isSame(seen.subaccountId, subaccountId)) throw unreadable();
    return { payout: await record(tenant, seen, { reference, at: read.at }), read };
  }

  async function refreshOne(tenant: Tenant, known: Observed, errand: Errand): Promise<void> {
    const payout = subaccountPayoutFromJson(known.snapshot);
    const reference = payout.withdrawalId ?? payout.code ?? payout.payoutId;
    if (reference !== null) await fetchPayout(tenant, payout.subaccountId, reference, { errand, keepMs: 0 });
  }

  /** An intent whose outcome is not known yet, under whose key somebody looks for a payout. */
  async function intentOf(tenant: Tenant, subaccountId: string, reference: string): Promise<Intent | null> {
    if (!reference.startsWith(IDEM)) return null;
    const open = await intents.open(tenant, PAYOUT);
    return (
      open.find(
        ({ key, summary }) =>
          IDEM + key === reference && isSame((summary as Summary).subaccountId, subaccountId),
      ) ?? null
    );
  }

  // ── What must not be done twice ─────────────────────────────────────────────────────────────────

  /** `held`: it is under verification (the document's `202`). */
  async function sendPayout(
    tenant: Tenant,
    input: PayoutInput,
    { key }: Intent,
  ): Promise<{ made: Observation; held: boolean }> {
    const { subaccountId, amountCents, pixKey } = input;
    const answer = await post(tenant, `/v1/subaccounts/${subaccountId}/payout`, {
      amountCents,
      pixKey,
      idempotencyKey: key,
    });
    if (!isSuccess(answer))
      throw await whyRefused(answer, {
        secret: pixKey,
        permissions: MAY_WITHDRAW,
        async shortOf(words) {
          const { subaccount } = await readSubaccountNow(tenant, subaccountId, { class: 'query', waitMs: 0 });
          const balanceCents = subaccount?.balanceCents ?? null;
          if (balanceCents === null || amountCents <= balanceCents) return null;
          return new InsufficientFundsError(words, {
            requestedCents: amountCents,
            withdrawableCents: balanceCents,
            balanceCents,
            disputeBlockedCents: 0,
            subaccountsBalanceCents: null,
            cryptoBalanceLitoshi: null,
          });
        },
      });
    // It is requested: whatever goes wrong from here on changes nothing of that.
    const found = await lookUpPayout(
      tenant,
      subaccountId,
      [IDEM + key, ...readRequestedPayout(answer.body)],
      {
        class: 'money',
        waitMs: 2_000,
      },
    ).catch(() => 'unclear' as const);
    if (typeof found === 'string') throw notShown();
    return { made: found.found, held: answer.status === 202 };
  }

  /** By the first of these names that leads to it. */
  async function lookUpPayout(
    tenant: Tenant,
    subaccountId: string,
    names: readonly string[],
    errand: Errand,
  ): Promise<Found> {
    let unclear = false;
    for (const reference of names) {
      if (referenceKind(reference) === null) continue;
      const at = clock.now();
      const path = payoutPath(subaccountId, reference);
      const { status, body } = await upstream.get({ environment: tenant.environment, path, errand });
      const seen = status === 200 ? readSubaccountPayout(body) : null;
      if (seen && isSame(seen.subaccountId, subaccountId))
        return { found: observationOf(seen, { reference, at }) };
      unclear ||= status !== 404;
    }
    return unclear ? 'unclear' : 'not_there';
  }

  async function sendTransfer(
    tenant: Tenant,
    { subaccountId, amountCents }: Omit<TransferInput, 'idempotencyKey'>,
    { id, key }: Intent,
  ): Promise<{ made: Observation; entry: ShownStatementEntry | null }> {
    const answer = await post(tenant, `/v1/subaccounts/${subaccountId}/transfers`, {
      amountCents,
      idempotencyKey: key,
    });
    if (isSuccess(answer)) {
      const refId = readTransferReference(answer.body);
      const entry = refId === null ? null : readStatementEntry(subaccountId, answer.body);
      return { made: madeOf(refId ?? id), entry };
    }
    throw await whyRefused(answer, {
      permissions: MAY_MANAGE,
      async shortOf(words) {
        const { withdrawableCents, balanceCents, disputeBlockedCents, subaccountsBalanceCents } =
          await readWallet(tenant);
        if (amountCents <= withdrawableCents) return null;
        return new InsufficientFundsError(words, {
          requestedCents: amountCents,
          ...{ withdrawableCents, balanceCents, disputeBlockedCents, subaccountsBalanceCents },
          cryptoBalanceLitoshi: null,
        });
      },
    });
  }

  /**
   * The document shows no lookup of a transfer, and nothing in its entry that leads back to its key. So it is the one
   * entry of its amount and its time that no other transfer of ours has made; where there are several, nobody can tell.
   */
  const lookForTransfer: Look = async (tenant, intent) => {
    const { subaccountId, amountCents } = intent.summary as Summary;
    const from = plusMs(intent.createdAt, -ENTERED_WITHIN_MS.before);
    const to = plusMs(intent.createdAt, ENTERED_WITHIN_MS.after);
    const statement = await readStatementSince(tenant, subaccountId, from);
    if (!statement) return 'unclear';
    const isIt = (entry: ShownStatementEntry) =>
      (entry.kind === 'transfer_in' || entry.kind === 'unknown') &&
      entry.amountCents === amountCents &&
      entry.createdAt >= from &&
      entry.createdAt <= to;
    const alike = [...new Set(statement.entries.filter(isIt).map(({ refId }) => refId))];
    const claimed = await intents.claimed(tenant, TRANSFER, alike);
    const free = alike.filter((refId) => !claimed.has(refId));
    if (free.length === 0) return statement.reachesBack ? 'not_there' : 'unclear';
    const open = await intents.open(tenant, TRANSFER);
    const rivals = open.filter(
      ({ id, summary }) => id !== intent.id && isSameTransfer(summary, intent.summary),
    );
    if (free.length > 1 || rivals.length > 0) return 'unclear';
    return { found: madeOf(free[0]!), claims: free[0]! };
  };

  /**
   * The newest entries, page by page to where they are older. One that is entered meanwhile moves the others to a later
   * place, so that some come twice and none is passed over. Null where they cannot be read.
   */
  async function readStatementSince(
    tenant: Tenant,
    subaccountId: string,
    from: Date,
  ): Promise<{ entries: ShownStatementEntry[]; reachesBack: boolean } | null> {
    const entries: ShownStatementEntry[] = [];
    for (let page = 0; page < STATEMENT_PAGES; page++) {
      const { status, body } = await upstream.get({
        environment: tenant.environment,
        path: `/v1/subaccounts/${subaccountId}/statement?limit=${LARGEST_PAGE}&offset=${page * LARGEST_PAGE}`,
        errand: { class: 'query' },
      });
      const read = status === 200 ? readPage(body) : null;
      if (!read) return null;
      for (const item of read.items) {
        const entry = readStatementEntry(subaccountId, item);
        if (!entry) return null;
        entries.push(entry);
      }
      const isLast = read.items.length < LARGEST_PAGE;
      if (isLast || entries.some(({ createdAt }) => createdAt < from)) return { entries, reachesBack: true };
    }
    return { entries, reachesBack: false };
  }

  const looks: Record<string, Look> = {
    [PAYOUT]: (tenant, { key, summary }) =>
      lookUpPayout(tenant, (summary as Summary).subaccountId, [IDEM + key], { class: 'query' }),
    [TRANSFER]: lookForTransfer,
  };

  /** After a write, or one that may have been one: whoever follows is told soon. */
  async function moving<Result>(tenant: Tenant, move: () => Promise<Result>): Promise<Result> {
    try {
      return await move();
    } finally {
      reads.forget(tenant.environment);
      nudge(tenant, RESOURCE);
      nudge(tenant, 'wallet');
    }
  }

  // ── Lists ───────────────────────────────────────────────────────────────────────────────────────

  interface List {
    tenant: Tenant;
    asker: Asker;
  }

  async function page<Item>(
    { tenant, asker }: List,
    path: `/v1/${string}`,
    { limit, offset }: { limit: number; offset: number },
    readItem: (item: unknown) => Item | null,
  ): Promise<RankedPage<Item>> {
    const read = await get(tenant, `${path}?limit=${limit}&offset=${offset}`, { errand: errandOf(asker) });
    asker.saw(read.at, read.stale);
    if (read.status === 404) return { items: [], total: 0, at: read.at };
    const found = readPage(read.body);
    if (!found) throw unreadable();
    // Where nobody says how many there are, a full page has at least one more behind it.
    const more = found.items.length === limit ? 1 : 0;
    return {
      items: found.items.map(readItem),
      total: found.total ?? offset + found.items.length + more,
      at: read.at,
    };
  }

  const subaccountPage = (list: List, window: { limit: number; offset: number }) =>
    page(list, '/v1/subaccounts', window, readSubaccount);
  const statementPage = (list: List & { subaccountId: string }, window: { limit: number; offset: number }) =>
    page(list, `/v1/subaccounts/${list.subaccountId}/statement`, window, (item) =>
      readStatementEntry(list.subaccountId, item),
    );

  const subaccountList = createRankedList<List, ShownSubaccount>({
    keyOf: ({ tenant }) => tenant.environment,
    idOf: ({ id }) => id,
    fetchPage: subaccountPage,
    // Its balance changes.
    isKept: () => false,
  });
  const statements = createRankedList<List & { subaccountId: string }, ShownStatementEntry>({
    keyOf: ({ tenant, subaccountId }) => `${tenant.environment} ${subaccountId}`,
    idOf: ({ kind, refId }) => `${kind} ${refId}`,
    fetchPage: statementPage,
    isKept: () => true,
  });

  // ── The port ────────────────────────────────────────────────────────────────────────────────────

  function serviceFor(asker: Asker): SubaccountService & SubaccountPayoutService {
    const errand = errandOf(asker);
    const told = <Result>(asked: Promise<Result>): Promise<Result> => asked.catch(tellFault);

    async function find(tenant: Tenant, id: string): Promise<ShownSubaccount | null> {
      const { subaccount, read } = await told(readSubaccountNow(tenant, id, errand));
      if (read) asker.saw(read.at, read.stale);
      return subaccount;
    }

    /** Among the newest of its statement. */
    async function findEntry(tenant: Tenant, subaccountId: string, refId: string) {
      const wants = (entry: ShownStatementEntry) => entry.kind === 'transfer_in' && entry.refId === refId;
      const { items } = await statements.find({ tenant, asker, subaccountId }, { wants, limit: 1, pages: 1 });
      return items[0] ?? null;
    }

    /** The service's word, or what it last said where it cannot be asked. */
    async function findPayout(
      tenant: Tenant,
      subaccountId: string,
      reference: string,
    ): Promise<ShownSubaccountPayout | null> {
      // The document's 4.1.3: with a test key there are none.
      if (tenant.environment === 'sandbox') return null;
      if (!isSubaccountId(subaccountId) || referenceKind(reference) === null) return null;
      const known = await mirrored(tenant, subaccountId, reference);
      const last = known && subaccountPayoutFromJson(known.snapshot);
      if (last && isFinal(last)) return last;
      try {
        const { payout, read } = await fetchPayout(tenant, subaccountId, reference, { errand });
        asker.saw(known && read.stale ? known.observedAt : read.at, read.stale);
        // A payout never goes away again.
        return payout ?? last;
      } catch (error) {
        if (!isOutage(error)) throw error;
        if (known) {
          asker.saw(known.observedAt, true);
          return last;
        }
        if (await intentOf(tenant, subaccountId, reference)) return null;
        return tellFault(error);
      }
    }

    return {
      async create(tenant, input) {
        const asked = post(tenant, '/v1/subaccounts', input);
        const answer = await asked.catch((error: unknown) => {
          if (!(error instanceof UpstreamFault) || error.reached === 'no') return tellFault(error);
          // With a name of its own the same request again gives the same subaccount; without one, a second.
          throw new UpstreamError(error.message, {
            retryable: input.externalId != null,
            moneyMayHaveMoved: false,
          });
        });
        if (isSuccess(answer)) {
          const subaccount = readSubaccount(answer.body);
          if (!subaccount)
            throw new UpstreamError(UNREADABLE, { retryable: false, moneyMayHaveMoved: false });
          return { subaccount, replayed: answer.status === 200 };
        }
        if (answer.status === 409)
          throw new ValidationError([
            { path: 'input.externalId', message: 'is another subaccount’s already' },
          ]);
        throw refusalOf(answer, MAY_MANAGE);
      },

      async transfer(tenant, { idempotencyKey, ...input }) {
        const { subaccountId, amountCents } = input;
        if (!isSubaccountId(subaccountId)) throw new NotFoundError('Subaccount not found');
        let told: ShownStatementEntry | null = null;
        const { resourceId, replayed } = await moving(tenant, () =>
          intents.run(tenant, {
            name: TRANSFER,
            input,
            key: idempotencyKey ?? null,
            summary: summaryOf,
            async send(intent) {
              const { made, entry } = await sendTransfer(tenant, input, intent);
              told = entry;
              return made;
            },
            lookupReference: () => null,
          }),
        );
        // It is done, whatever can be read now.
        const [subaccount, entry] = await Promise.all([
          find(tenant, subaccountId).catch(() => null),
          told ?? findEntry(tenant, subaccountId, resourceId).catch(() => null),
        ]);
        return {
          subaccount: subaccount ?? unknownSubaccount(subaccountId),
          entry: {
            ...(entry ?? { balanceAfterCents: null, createdAt: clock.now() }),
            ...{ subaccountId, kind: 'transfer_in', refId: resourceId, amountCents },
          },
          replayed,
        };
      },

      find,
      findMany: (tenant, ids) => Promise.all(ids.map((id) => find(tenant, id))),
      list: (tenant, { first, after }) =>
        told(placed(subaccountList.list({ tenant, asker }, { end: 'first', limit: first, after }))),
      async listPage(tenant, window) {
        return numbered(await told(subaccountPage({ tenant, asker }, window)));
      },
      count: (tenant) => told(subaccountList.count({ tenant, asker }, {})),

      async statement(tenant, subaccountId, { first, after }) {
        if (!isSubaccountId(subaccountId)) return { items: [], hasNextPage: false };
        const list = { tenant, asker, subaccountId };
        return told(placed(statements.list(list, { end: 'first', limit: first, after })));
      },
      async statementPage(tenant, subaccountId, window) {
        if (!isSubaccountId(subaccountId)) return { items: [], total: 0 };
        return numbered(await told(statementPage({ tenant, asker, subaccountId }, window)));
      },
      async countStatement(tenant, subaccountId) {
        return isSubaccountId(subaccountId) ? told(statements.count({ tenant, asker, subaccountId }, {})) : 0;
      },

      findPayout,

      async findPayoutWithVersion(tenant, subaccountId, reference) {
        // Before anything is looked at, so that nothing that comes later is missed.
        const head = await readHead(sql, tenant);
        const known = await mirrored(tenant, subaccountId, reference);
        const id = known?.id ?? (await findPayout(tenant, subaccountId, reference))?.id;
        const found = id === undefined ? null : await selectObservedWithHead(sql, tenant, RESOURCE, id);
        if (found)
          return {
            version: found.head,
            id: found.observed.id,
            payout: subaccountPayoutFromJson(found.observed.snapshot),
          };
        if (await intentOf(tenant, subaccountId, reference))
          return { version: head, id: reservedId(subaccountId, reference)!, payout: null };
        // It may have become known just now, and its intent have ended.
        const late = await mirrored(tenant, subaccountId, reference);
        return late && { version: head, id: late.id, payout: subaccountPayoutFromJson(late.snapshot) };
      },

      async findPayouts(tenant, ids) {
        const select = () => selectObserved(sql, tenant, RESOURCE, [...new Set(ids)]);
        const known = await select();
        const old = plusMs(clock.now(), -OLD_AFTER_MS);
        const due = known
          .filter(({ final, observedAt }) => !final && observedAt < old)
          .slice(0, REFRESHED_AT_ONCE);
        const asked = await Promise.allSettled(due.map((one) => refreshOne(tenant, one, errand)));
        const now = due.length === 0 ? known : await select();
        for (const { observedAt, final } of now)
          if (!final)
            asker.saw(observedAt, asked.some(({ status }) => status === 'rejected') && observedAt < old);
        const found = new Map(now.map(({ id, snapshot }) => [id, subaccountPayoutFromJson(snapshot)]));
        return ids.map((id) => found.get(id) ?? null);
      },

      // The document shows no list of them: these are those that were requested here, or told of, or looked up.
      async payouts(tenant, subaccountId, { first, after, status }) {
        const window = { before: after ?? null, limit: first + 1 };
        const rows = await listObserved(sql, tenant, RESOURCE, { ...ofOne(subaccountId, status), ...window });
        const items = rows.map(({ place, observed: row }) => ({
          place,
          item: subaccountPayoutFromJson(row.snapshot),
        }));
        return { items: items.slice(0, first), hasNextPage: items.length > first };
      },
      async payoutsPage(tenant, subaccountId, window) {
        const filter = ofOne(subaccountId);
        const [rows, total] = await Promise.all([
          listObserved(sql, tenant, RESOURCE, { ...filter, ...window, before: null }),
          countObserved(sql, tenant, RESOURCE, filter),
        ]);
        return { items: rows.map(({ observed: row }) => subaccountPayoutFromJson(row.snapshot)), total };
      },
      countPayouts: (tenant, subaccountId, { status }) =>
        countObserved(sql, tenant, RESOURCE, ofOne(subaccountId, status)),

      async requestPayout(tenant, { idempotencyKey, ...input }) {
        assertPayoutsAvailable(tenant.environment);
        if (!isSubaccountId(input.subaccountId)) throw new NotFoundError('Subaccount not found');
        // Where nobody has told, it may be.
        let isHeld = true;
        const { resourceId, replayed } = await moving(tenant, () =>
          intents.run(tenant, {
            name: PAYOUT,
            input,
            key: idempotencyKey ?? null,
            summary: summaryOf,
            async send(intent) {
              const { made, held } = await sendPayout(tenant, input, intent);
              isHeld = held;
              return made;
            },
            lookupReference: ({ key }) => IDEM + key,
          }),
        );
        const payout = await mirroredById(tenant, resourceId);
        return { payout, underVerification: isHeld && payout.status === 'processing', replayed };
      },

      async recheck(tenant, reference) {
        const [own] = await selectObserved(sql, tenant, RESOURCE, [reference]);
        const known = own ?? (await selectNamed(tenant, [bareName(reference)]));
        if (!known) throw new NotFoundError('Payout not found');
        await told(refreshOne(tenant, known, errand));
      },
    };
  }

  // ── Following ───────────────────────────────────────────────────────────────────────────────────

  const poll: Poller = async (tenant, wanted) => {
    const now = clock.now();
    const open = await selectOpen(sql, tenant, RESOURCE, wanted.all ? 'all' : wanted.ids);
    const every = (one: Observed) => Math.max(intervalOf(one, now), open.length * POLL_EVERY_MS.fresh);
    const dueAt = (one: Observed) => plusMs(one.observedAt, every(one));
    const oldest = [...open].sort((left, right) => dueAt(left).getTime() - dueAt(right).getTime());
    const due = oldest.filter((one) => dueAt(one) <= now);
    const polled = new Set<Observed>();
    for (const one of due.slice(0, POLLED_AT_ONCE)) {
      const claim = { name: `${RESOURCE} ${one.id}`, now, intervalMs: every(one) };
      if (await claimPoll(sql, tenant, claim)) await refreshOne(tenant, one, { class: 'poll' });
      polled.add(one);
    }
    const next = oldest
      .map((one) => (polled.has(one) ? plusMs(now, every(one)) : dueAt(one)))
      .map((at) => (at <= now ? plusMs(now, POLL_EVERY_MS.fresh) : at));
    // Somebody may wait for one whose request has an outcome that is not known yet, or for any that begins elsewhere.
    if (wanted.all) next.push(plusMs(now, IDLE_MS));
    else if ((await intents.open(tenant, PAYOUT)).length > 0) next.push(plusMs(now, POLL_EVERY_MS.fresh));
    return next.reduce<Date | null>((first, at) => (first && first <= at ? first : at), null);
  };

  async function refresh(tenant: Tenant, given: readonly string[], errand: Errand): Promise<void> {
    for (const reference of given) {
      const [subaccountId, name] = reference.split('/') as [string, string | undefined];
      if (name !== undefined) {
        await fetchPayout(tenant, subaccountId, name, { errand, keepMs: 0 });
        continue;
      }
      const [own] = await selectObserved(sql, tenant, RESOURCE, [reference]);
      const known = own ?? (await selectNamed(tenant, [bareName(reference)]));
      if (known) await refreshOne(tenant, known, errand);
    }
  }

  function sighting(payload: unknown): Sighting | null {
    const event = readSubaccountPayoutEvent(payload);
    if (!event) return null;
    if ('code' in event) {
      const { code, subaccountId } = event;
      const reference = subaccountId === null ? code : `${subaccountId}/${code}`;
      return { resource: RESOURCE, reference, observation: namedOnly(code) };
    }
    const { payout: seen } = event;
    const name = seen.withdrawalId ?? seen.code ?? seen.payoutId;
    // It does not say which payout it is.
    if (name === null) return null;
    return {
      resource: RESOURCE,
      reference: `${seen.subaccountId}/${name}`,
      observation: observationOf(seen, { reference: null, at: clock.now() }),
    };
  }

  return { serviceFor, poll, refresh, sighting, looks };
}

type PayoutInput = Omit<RequestPayoutInput, 'idempotencyKey'>;

/** What a request is recognised by. */
interface Summary {
  subaccountId: string;
  amountCents: number;
}

function summaryOf({ subaccountId, amountCents }: Summary): Summary {
  return { subaccountId, amountCents };
}

function isSameTransfer(left: unknown, right: unknown): boolean {
  const [one, other] = [left as Summary, right as Summary];
  return isSame(one.subaccountId, other.subaccountId) && one.amountCents === other.amountCents;
}

/** A tenth of its age. */
function intervalOf({ snapshot }: Observed, now: Date): number {
  const age = now.getTime() - subaccountPayoutFromJson(snapshot).createdAt.getTime();
  return Math.min(Math.max(age / 10, POLL_EVERY_MS.fresh), POLL_EVERY_MS.old);
}

// ── Names ───────────────────────────────────────────────────────────────────────────────────────

const IDEM = 'saq_idem_';

function isSubaccountId(id: string): boolean {
  return subaccountIdText.safeParse(id).success;
}

/** Hex digits, in whichever case. */
function isSame(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

function payoutPath(subaccountId: string, reference: string): `/v1/${string}` {
  return `/v1/subaccounts/${subaccountId}/payouts/${encodeURIComponent(reference)}`;
}

/**
 * The id of a payout with an idempotency key: known before the payout is, and the same to every instance and whichever
 * name of it is seen first. Null for a payout without one.
 */
function reservedId(subaccountId: string, payoutId: string | null): string | null {
  if (!payoutId?.startsWith(IDEM)) return null;
  const digest = createHash('sha256').update(nameOf(subaccountId, payoutId)).digest('hex');
  return `sqp_${digest.slice(0, 32)}`;
}

function namesOf(seen: SeenPayout, reference: string | null): string[] {
  const all = [seen.withdrawalId, seen.code, seen.payoutId, reference];
  return [...new Set(all.flatMap((name) => (name === null ? [] : [nameOf(seen.subaccountId, name)])))];
}

/** Nothing says that a key is used for one subaccount only, so a name with a key in it is its subaccount's. */
function nameOf(subaccountId: string, reference: string): string {
  return referenceKind(reference) === 'payoutId'
    ? `${subaccountId.toLowerCase()}/${reference}`
    : bareName(reference);
}

function bareName(reference: string): string {
  return referenceKind(reference) === 'withdrawalId' ? reference.toLowerCase() : reference;
}

function ofOne(subaccountId: string, status?: readonly string[]) {
  return { parent: subaccountId.toLowerCase(), status };
}

/** What was seen of a payout; `reference` is what it was looked up by. */
function observationOf(
  seenAs: SeenPayout,
  { reference, at }: { reference: string | null; at: Date },
): Observation {
  // The form of the statement's refId leads to no payout but the one whose refId it is.
  const seen =
    seenAs.payoutId === null && reference !== null && referenceKind(reference) === 'payoutId'
      ? { ...seenAs, payoutId: reference }
      : seenAs;
  const names = namesOf(seen, reference);
  const id = reservedId(seen.subaccountId, seen.payoutId) ?? newPayoutKey();
  return {
    read: (reader) =>
      Promise.all([readByReferences(reader, RESOURCE, names), reader.load(observed[RESOURCE], id)]),
    decide(state) {
      const before = knownByReferences(state, RESOURCE, names) ?? state.get(observed[RESOURCE], id);
      const known = before && subaccountPayoutFromJson(before.snapshot);
      const payout = mergeSeen(known, seen, id) ?? known!;
      const isNew = known === null || payout.version > known.version;
      const record: Observed = {
        resource: RESOURCE,
        id: payout.id,
        version: payout.version,
        status: payout.status,
        final: isFinal(payout),
        parent: payout.subaccountId.toLowerCase(),
        snapshot: payout,
        observedAt: before && before.observedAt > at ? before.observedAt : at,
      };
      const writes: Writes = writesOfObserved({
        ...record,
        names,
        event: isNew
          ? {
              kind: `subaccount_payout.${eventOf(known, payout)}`,
              resource: RESOURCE,
              resourceId: payout.id,
              previousStatus: known?.status ?? null,
              snapshot: payout,
            }
          : null,
      });
      return { resourceId: payout.id, writes };
    },
  };
}

/** An event that says which payout it is of, and nothing else of it. */
function namedOnly(code: string): Observation {
  const names = [bareName(code)];
  return {
    read: (reader) => readByReferences(reader, RESOURCE, names),
    decide: (state) => ({ resourceId: knownByReferences(state, RESOURCE, names)?.id ?? code, writes: {} }),
  };
}

/** What is not mirrored: that it was made is all that is kept of it. */
function madeOf(resourceId: string): Observation {
  return { read: async () => undefined, decide: () => ({ resourceId, writes: {} }) };
}

// ── Pages ───────────────────────────────────────────────────────────────────────────────────────

async function placed<Item>(
  listed: Promise<{ items: { place: number; item: Item }[]; more: boolean }>,
): Promise<Placed<Item>> {
  const { items, more } = await listed;
  return { items, hasNextPage: more };
}

function numbered<Item>({ items, total }: RankedPage<Item>): { items: Item[]; total: number } {
  return { items: items.filter((item) => item !== null), total };
}

// ── Refusals and faults ─────────────────────────────────────────────────────────────────────────

const UNREADABLE = 'The answer of the payments service cannot be read';

function isSuccess({ status }: { status: number }): boolean {
  return status >= 200 && status < 300;
}

/** What an answer that is no success means, whatever was asked for. */
function refusalOf(
  { status, body }: { status: number; body: unknown },
  permissions: readonly string[],
): PaymentError {
  const words = readRefusal(body);
  switch (status) {
    case 400:
    case 422:
      return invalid(words ?? 'was refused by the payments service');
    case 401:
      return certain('The payments service does not accept the key of this server');
    case 403:
      return new PermissionError(
        'The key of this server may not do this at the payments service',
        permissions,
      );
    case 404:
    case 405:
      return noEndpoint();
    default:
      return certain('The payments service refused this');
  }
}

/** Why a payout or a transfer was refused. @throws UpstreamFault where that is not certain */
async function whyRefused(
  answer: UpstreamAnswer,
  {
    secret = '',
    permissions,
    shortOf,
  }: {
    secret?: string;
    permissions: readonly string[];
    /** With the service's words, where the money does not suffice. */
    shortOf: (words: string) => Promise<PaymentError | null>;
  },
): Promise<PaymentError> {
  const said = readRefusal(answer.body);
  const words =
    (secret === '' ? said : said?.replaceAll(secret, '…')) ?? 'was refused by the payments service';
  switch (answer.status) {
    case 404:
      return new NotFoundError('Subaccount not found');
    case 409:
      return new IdempotencyError('This idempotency key was used before with another input');
    case 400:
    case 422:
      return (await shortOf(words).catch(() => null)) ?? invalid(words);
    default:
      // Neither done nor refused: somebody in between has answered, or the service has lost its patience.
      if (answer.status < 400 || answer.status === 408)
        throw new UpstreamFault('unreadable', 'maybe', String(answer.status));
      return refusalOf(answer, permissions);
  }
}

const FIELD = /^(?:input\.|body\.)?(name|externalId|subaccountId|amountCents|pixKey|idempotencyKey): (.*)$/s;

/** In the service's words; with the field, where they begin with it. */
function invalid(words: string): ValidationError {
  const [, field, message] = FIELD.exec(words) ?? [];
  return new ValidationError([
    field && message ? { path: `input.${field}`, message } : { path: 'input', message: words },
  ]);
}

function certain(message: string): UpstreamError {
  return new UpstreamError(message, { retryable: false, moneyMayHaveMoved: false });
}

function noEndpoint(): UpstreamError {
  return certain('The payments service does not offer this');
}

/** It was accepted, and is not to be seen. */
function notShown(): UpstreamError {
  return new UpstreamError('The payments service has accepted this, and does not show it', {
    retryable: false,
    moneyMayHaveMoved: true,
  });
}

function cannotAsk(): UpstreamError {
  return new UpstreamError('The payments service cannot be asked now', {
    retryable: true,
    moneyMayHaveMoved: false,
  });
}

function unreadable(): UpstreamFault {
  return new UpstreamFault('unreadable', 'maybe');
}

function isNotImplemented(error: unknown): boolean {
  return error instanceof UpstreamFault && error.kind === 'server_error' && error.detail === '501';
}

/** The service could not be asked, or did not answer: what is known may be answered in its place. */
function isOutage(error: unknown): boolean {
  return (
    error instanceof RateLimitError ||
    error instanceof UpstreamFault ||
    (error instanceof UpstreamError && error.retryable)
  );
}

/** As whoever asked is told of it. */
function tellFault(error: unknown): never {
  if (isNotImplemented(error)) throw noEndpoint();
  throw error instanceof UpstreamFault ? unavailable(error) : error;
}
