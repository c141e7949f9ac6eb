import { createCoalescedReads } from '../../kernel/coalesce.ts';
import { behindChange } from '../../kernel/errors.ts';
import { orderStatusOf } from '../../kernel/orders.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { PixCredit, PixRail, PixRegistration } from '../../rails/pix.ts';
import {
  type Collection,
  type Committer,
  joined,
  loadRecords,
  type Reader,
  type State,
  type Writes,
} from '../../state/commit/commit.ts';
import { closeOpenPayments, type OrderPayments, readToClose } from '../../state/commit/orders.ts';
import type { ProductContent } from '../../state/commit/product-content.ts';
import type { Database } from '../../state/db/database.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import { keptPaymentOf } from '../checkout/model.ts';
import type { ReturnCause } from '../receiving/model.ts';
import { allWritesOfPix, type Beneficiaries, credits, type PixFamily } from './collections.ts';
import { type RecordedCredit, type ReturnOutcome, returnIdOf } from './credit.ts';
import type { PixChange } from './decisions.ts';
import {
  type CodedResource,
  type HostedPix,
  type HostedPixCheckout,
  type PixCodeReceiver,
  type PixReceiver,
  type PixSimulation,
  type PixTask,
  type RegisterCode,
  txidOf,
} from './model.ts';
import type { ChangeReceived, ReceivedState, Repeatable } from './service.ts';
import { creditTable } from './store.ts';

/** Accounts, with the name that a payer's bank shows; the slice that owns accounts provides them. */
type AccountCollection = Collection<{ id: string; name: string }>;

/** Counts the bank's credits and returns. */
export interface PixMeter {
  onPixCode(outcome: PixRegistration['status']): void;
  /** `accepted`, or the cause for which the credit is sent back. */
  onPixCredit(outcome: 'accepted' | ReturnCause): void;
  /** Counts the bank's answer to the return of a credit. A refused return is retried after a day. */
  onPixReturn(outcome: 'completed' | 'failed'): void;
}

/** The operations of one family's codes. */
export interface FamilyCharging<R extends CodedResource> extends PixReceiver<R>, PixSimulation<R> {
  register: RegisterCode<R>;
  changeReceived: ChangeReceived<R>;
}

/**
 * Calls the bank for PIX codes, and handles their due tasks. The bank is called between two commits, never
 * inside one: a code and a return are recorded before, with the ids that the bank gets, so that a retry after
 * a crash has one effect. The bank knows a code by its txid alone, and a task its resource by the id, whose
 * form names the family.
 */
export function createPixCharging({
  database,
  committer,
  rail,
  accounts,
  families,
  beneficiaries,
  content,
  methods,
  meter,
  onFault,
}: {
  database: Database;
  committer: Committer;
  rail: PixRail;
  accounts: AccountCollection;
  families: readonly PixFamily<CodedResource>[];
  beneficiaries: Beneficiaries;
  content: ProductContent;
  /** The payments of an order that any method pays. */
  methods: readonly OrderPayments[];
  meter: PixMeter;
  /** Called with the error if the bank did not answer. */
  onFault: (fault: unknown) => void;
}): HostedPixCheckout &
  PixCodeReceiver & {
    /** Returns the operations of a family. */
    of<R extends CodedResource>(family: PixFamily<R>): FamilyCharging<R>;
    tasks: Record<PixTask, TaskHandler>;
  } {
  const operations = new Map(families.map((family) => [family, createFamily(family)]));
  const sharedReceipts = createCoalescedReads<CodedResource | null>();
  const sharedNames = createCoalescedReads<string>();

  /** Finds the operations of the family that an id belongs to. */
  function familyOf(id: string): ReturnType<typeof createFamily> | null {
    return [...operations.values()].find(({ family }) => family.isId(id)) ?? null;
  }

  function createFamily<R extends CodedResource>(family: PixFamily<R>) {
    const { decisions, records } = family;

    async function select(tenant: Tenant, id: string): Promise<R | null> {
      return (await loadRecords(records, database.sql, tenant, [id]))[0] ?? null;
    }

    /**
     * Applies a decision to a locked resource. Returns the resource afterwards; null if it does not exist.
     */
    function advance(
      tenant: Tenant,
      id: string,
      decide: (resource: R, state: State) => PixChange<R> | null,
      readMore: (reader: Reader, resource: R) => Promise<unknown> = async () => undefined,
      writeMore: (change: PixChange<R>, state: State, writes: Writes) => Writes = () => ({}),
    ): Promise<R | null> {
      return committer.change<R | null>({
        tenant,
        async read(reader) {
          const resource = await reader.load(records, id);
          if (resource) await readMore(reader, resource);
        },
        decide(state) {
          const resource = state.get(records, id);
          const change = resource && decide(resource, state);
          if (!change) return { outcome: resource };
          const writes = allWritesOfPix(family, change, { beneficiaries, content, state });
          return { outcome: change.resource, writes: joined(writes, writeMore(change, state, writes)) };
        },
      });
    }

    /** Loads what `keptOf` reads. */
    function readOrder(reader: Reader, resource: R): Promise<unknown> {
      return Promise.all(methods.map((method) => method.read(reader, family.orderOf(resource))));
    }

    /** The payment that the resource's order keeps, by any method; null if there is none. */
    function keptOf(state: State, resource: R): string | null {
      return keptPaymentOf(methods.flatMap((method) => method.paymentsOf(state, family.orderOf(resource))));
    }

    /** Expires a resource at its instant, or now. */
    function expire(tenant: Tenant, id: string, endsNow = false): Promise<R | null> {
      const { environment } = tenant;
      return advance(
        tenant,
        id,
        (resource, state) =>
          decisions.decideExpire(endsNow ? { ...resource, expiresAt: state.now } : resource, {
            environment,
            keptPayment: keptOf(state, resource),
            now: state.now,
          }),
        readOrder,
      );
    }

    async function registerCode(tenant: Tenant, resource: R): Promise<PixRegistration> {
      const merchantName = await sharedNames(tenant.accountId, async () => {
        const [account] = await loadRecords(accounts, database.sql, tenant, [tenant.accountId]);
        return account!.name;
      });
      return rail.register({
        txid: txidOf(family.idOf(resource)),
        tenant,
        amountCents: resource.amountCents,
        expiresAt: resource.expiresAt,
        merchantName,
        payer: family.payerOf(resource),
        recurrence: family.recurrenceOf?.(resource) ?? null,
      });
    }

    async function record(tenant: Tenant, resource: R, registration: PixRegistration): Promise<R> {
      const changed = await advance(tenant, family.idOf(resource), (current, { now }) => {
        switch (registration.status) {
          case 'registered':
            return decisions.decideRegistered(current, registration.brCode);
          case 'refused':
            return decisions.decideRefused(current, registration.reason, tenant.environment);
          case 'pending':
            return decisions.decideRegisterAgain(current, now);
        }
      });
      meter.onPixCode(registration.status);
      return changed ?? resource;
    }

    async function receive(tenant: Tenant, id: string): Promise<R | null> {
      let resource = await select(tenant, id);
      if (!resource) return null;
      // The credit that has paid it is recorded already: a repeated notification does not wait for the
      // tenant's lock.
      const { endToEndId } = resource;
      const reported = (await rail.creditsOf(txidOf(id))).filter(
        (credit) => credit.endToEndId !== endToEndId,
      );
      const fresh = await unrecorded(tenant, reported);
      // Another instance may have recorded the other credits while this one called the bank.
      if (fresh.length < reported.length) resource = (await select(tenant, id)) ?? resource;
      for (const credit of fresh) resource = await recordCredit(tenant, resource, credit);
      return resource;
    }

    /** Leaves out recorded credits: the bank reports all credits of a code each time. */
    async function unrecorded(tenant: Tenant, reported: readonly PixCredit[]): Promise<readonly PixCredit[]> {
      if (reported.length === 0) return reported;
      const ids = reported.map(({ endToEndId }) => endToEndId);
      const known = await creditTable.load(database.sql, tenant, ids);
      const recorded = new Set(known.map(({ endToEndId }) => endToEndId));
      return reported.filter(({ endToEndId }) => !recorded.has(endToEndId));
    }

    async function recordCredit(tenant: Tenant, resource: R, credit: PixCredit): Promise<R> {
      let recorded: RecordedCredit | null = null;
      const changed = await advance(
        tenant,
        family.idOf(resource),
        (current, state) => {
          const change = decisions.decideCredit(current, credit, {
            isKnown: state.get(credits, credit.endToEndId) !== null,
            keptPayment: keptOf(state, current),
            environment: tenant.environment,
            balances: state.balances,
            now: state.now,
          });
          recorded = change?.credit ?? null;
          return change;
        },
        (reader, current) => {
          const sale = family.saleOf?.(current);
          return Promise.all([
            reader.load(credits, credit.endToEndId),
            sale && content.read(reader, sale),
            readOrder(reader, current),
            readToClose(methods, reader, family.orderOf(current)),
            ...family.sharesOf(current).map((share) => beneficiaries.read(reader, share.subaccountId)),
          ]);
        },
        ({ previous, resource: paid }, state, writes) =>
          paid.status === 'paid' && previous?.status !== 'paid'
            ? closeOpenPayments(methods, state, family.orderOf(paid), writes)
            : {},
      );
      if (recorded !== null) meter.onPixCredit((recorded as RecordedCredit).cause ?? 'accepted');
      return changed ?? resource;
    }

    return {
      family,
      select,
      receive,
      registerCode,
      record,
      async register(tenant: Tenant, resource: R): Promise<R> {
        const registration = await registerCode(tenant, resource).catch((error: unknown): PixRegistration => {
          // The task of the code retries.
          onFault(error);
          return { status: 'pending' };
        });
        return record(tenant, resource, registration).catch((error: unknown) => {
          throw behindChange(error);
        });
      },
      async expireNow(tenant: Tenant, id: string): Promise<R | null> {
        await receive(tenant, id);
        return expire(tenant, id, true);
      },
      async changeReceived(
        tenant: Tenant,
        id: string,
        decide: (resource: R, state: ReceivedState) => PixChange<R> | null,
      ): Promise<Repeatable<R> | null> {
        // A bank that does not answer must not prevent the change.
        await receive(tenant, id).catch(onFault);
        let isChanged = false;
        const changed = await advance(
          tenant,
          id,
          (resource, state) => {
            const change = decide(resource, { keptPayment: keptOf(state, resource), now: state.now });
            isChanged = change !== null;
            return change;
          },
          readOrder,
        );
        return changed && { resource: changed, replayed: !isChanged };
      },
      expire,
      async recordReturn(tenant: Tenant, credit: RecordedCredit, outcome: ReturnOutcome): Promise<void> {
        let isRecorded = false;
        await advance(
          tenant,
          credit.resourceId,
          (resource, state) => {
            const current = state.need(credits, credit.endToEndId);
            // Another call of this task has recorded a refusal meanwhile: this outcome belongs to an id that
            // is used up.
            const isNew = current.failedReturns === credit.failedReturns;
            const change = isNew ? decisions.decideReturn(resource, current, outcome, state.now) : null;
            isRecorded = change !== null;
            return change;
          },
          (reader) => reader.load(credits, credit.endToEndId),
        );
        if (isRecorded && outcome.status !== 'pending') meter.onPixReturn(outcome.status);
      },
    };
  }

  async function receiveByTxid(tenant: Tenant, txid: string): Promise<HostedPix | null> {
    for (const { family, receive } of operations.values())
      for (const id of family.idsOfTxid(txid)) {
        const received = await receive(tenant, id);
        if (received) return family.hostedOf(received);
      }
    return null;
  }

  /** Records the credits, if the bank answers. Payers who look at the same page share the request. */
  async function askBank(
    { family, receive }: ReturnType<typeof createFamily>,
    tenant: Tenant,
    resource: CodedResource,
  ): Promise<CodedResource> {
    const { status, brCode } = resource;
    const id = family.idOf(resource);
    if (brCode === null || (status !== 'pending' && status !== 'expired')) return resource;
    const received = await sharedReceipts(id, () => receive(tenant, id)).catch((error: unknown) => {
      onFault(error);
      return null;
    });
    return received ?? resource;
  }

  return {
    of: <R extends CodedResource>(family: PixFamily<R>) =>
      operations.get(family as unknown as PixFamily<CodedResource>) as unknown as FamilyCharging<R>,

    receiveByTxid,

    async open(id, { asksBank } = { asksBank: false }) {
      const operation = familyOf(id);
      const found = operation && (await operation.family.selectHosted(database.sql, id));
      if (!found) return null;
      const { family } = operation;
      const { tenant, merchantName } = found;
      const resource = asksBank ? await askBank(operation, tenant, found.resource) : found.resource;
      const payment = family.hostedOf(resource);
      const { accountId } = tenant;
      if (payment.status !== 'pending' && payment.status !== 'expired' && !payment.returned) {
        const sale = family.saleOf?.(resource);
        const delivered = sale ? await content.select(database.sql, tenant, sale.payment) : [];
        return { accountId, payment, merchantName, orderStatus: null, delivered };
      }
      const paid = await Promise.all(
        methods.map((method) => method.selectPaid(database.sql, tenant, family.orderOf(resource))),
      );
      return {
        accountId,
        payment,
        merchantName,
        orderStatus: orderStatusOf(paid.flat()),
        delivered: [],
      };
    },

    tasks: {
      async 'pix.register'(task) {
        const operation = familyOf(task.key);
        const resource = await operation?.select(task, task.key);
        if (resource?.status !== 'pending' || resource.brCode !== null) return;
        await operation!.record(task, resource, await operation!.registerCode(task, resource));
      },
      async 'pix.expire'(task) {
        // A PIX that was paid in time but not reported yet is looked up first.
        await familyOf(task.key)?.receive(task, task.key);
        await familyOf(task.key)?.expire(task, task.key);
      },
      async 'pix.receive'(task) {
        // The key is the code's txid, a space, and the id of the credit that the bank has reported.
        await receiveByTxid(task, task.key.split(' ')[0]!);
      },
      async 'pix.return'(task) {
        const [credit] = await creditTable.load(database.sql, task, [task.key]);
        if (!credit?.cause || credit.returnedAt) return;
        const { endToEndId, amountCents, resourceId } = credit;
        const outcome = await rail.refund({ id: returnIdOf(credit), railChargeId: endToEndId, amountCents });
        await familyOf(resourceId)?.recordReturn(task, credit, outcome);
      },
    },
  };
}
