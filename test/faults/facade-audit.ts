import type { Environment } from '../../server/src/kernel/tenant.ts';
import { type AuditedPayment, type AuditedPayout, audit } from './audit.ts';
import type { ChildServer } from './child.ts';
import type { Expectation, Kind, Reported } from './expectations.ts';

/** The resources of an expectation in the service's tables. */
interface Made {
  kind: Kind;
  id: string;
  amountCents: number;
  status: string;
}

export interface ServiceBooks {
  made: Made[];
  /** The service's own rules that its tables break. */
  violations: string[];
}

/** This rule is left out: requests without a key are made there, too, because the document has no key for most. */
const NOT_HERE = 'whatever was asked for with a key was done once';

/** Reads the service's tables. `aheadMs`: how far its clock is ahead. */
export async function booksOfService(service: ChildServer, aheadMs: number): Promise<ServiceBooks> {
  const now = new Date(Date.now() + aheadMs);
  const { payments, payouts, subaccountPayouts, violations } = await audit(service, now);
  const transfers = (await rowsOf(
    service,
    `select ref_id as id, amount_cents as "amountCents", 'entered' as status from statement_entry
     where kind = 'transfer_in' order by number`,
  )) as Omit<Made, 'kind'>[];
  const madeOf =
    (kind: Kind) =>
    ({ id, amountCents, status }: AuditedPayout | Omit<Made, 'kind'>): Made => ({
      kind,
      id,
      amountCents,
      status,
    });
  return {
    made: [
      ...payouts.map(madeOf('payout')),
      ...subaccountPayouts.map(madeOf('subaccountPayout')),
      ...transfers.map(madeOf('transfer')),
      ...payments.map(({ orderCode, ...rest }: AuditedPayment) =>
        madeOf('cardPayment')({ id: orderCode, ...rest }),
      ),
    ].sort((left, right) => (left.id < right.id ? -1 : 1)),
    violations: violations.filter((violation) => !violation.startsWith(NOT_HERE)),
  };
}

interface Intent {
  operation: string;
  key: string;
  state: string;
  resourceId: string | null;
  amountCents: number;
}

interface Observed {
  resource: 'payout' | 'subaccount_payout' | 'card_payment';
  environment: Environment;
  parent: string | null;
  /** The resource's id at the service. */
  id: string;
  version: number;
  status: string;
  final: boolean;
  snapshot: object;
}

interface LoggedEvent {
  environment: Environment;
  version: number;
  resource: string;
  id: string;
  /** The number of the resource's event. */
  number: number;
  status: string;
  /** Set if the facade gave its request up. */
  neverMade: boolean;
}

export interface FacadeBooks {
  intents: Intent[];
  observed: Observed[];
  events: LoggedEvent[];
  /** Versions of its log that are missing or double. */
  gaps: object[];
}

/** The resources that are compared one by one with the service's tables. */
const COMPARED = `('payout', 'subaccount_payout', 'card_payment')`;

export async function booksOfFacade(facade: ChildServer): Promise<FacadeBooks> {
  const [intents, observed, events, gaps] = await facade.ask('query', [
    `select operation, key, state, resource_id as "resourceId",
       coalesce(summary ->> 'amountCents', summary ->> 'valueCents')::int as "amountCents"
     from upstream_intent order by id`,
    `select resource, environment, parent, coalesce(snapshot ->> 'payoutId', id) as id, version, final,
       snapshot - 'inputHash' as snapshot,
       case when snapshot ->> 'reversed' = 'true' then 'reversed' else status end as status
     from observed where resource in ${COMPARED} and id not like 'int\\_%' and snapshot ->> 'neverMade' is null
     order by resource, id`,
    // The second event of a payout, written for followers of its request, is left out.
    `select environment, version, resource,
       coalesce(snapshot ->> 'payoutId', snapshot ->> 'withdrawalId', snapshot ->> 'orderCode', 'null') as id,
       (snapshot ->> 'version')::int as number, split_part(kind, '.', 2) as status,
       snapshot ->> 'neverMade' is not null as "neverMade"
     from event where resource in ${COMPARED}
       and not (resource_id like 'int\\_%' and snapshot ->> 'withdrawalId' is not null)
     order by environment, version`,
    `select account_id, environment, stream.version as head, count(event.version) from stream
       left join event using (account_id, environment)
     group by account_id, environment, stream.version
     having count(event.version) <> stream.version or coalesce(max(event.version), 0) <> stream.version
       or coalesce(min(event.version), 1) <> 1`,
  ]);
  return { intents, observed, events, gaps } as unknown as FacadeBooks;
}

export async function rowsOf(server: ChildServer, statement: string): Promise<object[]> {
  const [found] = await server.ask('query', [statement]);
  return found!;
}

/** Answers to callers that the tables of the service or of the facades contradict. */
export function complaintsOfCallers(
  expectations: readonly Expectation[],
  { made, violations }: ServiceBooks,
  { intents, gaps }: FacadeBooks,
): string[] {
  const complaints = [...violations, ...gaps.map((gap) => `a gap in the log: ${JSON.stringify(gap)}`)];
  const found = groupedBy(made, ({ kind, amountCents }) => `${kind} ${amountCents}`);
  const kept = groupedBy(intents, ({ amountCents }) => String(amountCents));
  for (const expectation of expectations) {
    const { kind, amountCents, key, reported } = expectation;
    const complain = (what: string) => complaints.push(`${JSON.stringify(expectation)}: ${what}`);
    const there = found.get(`${kind} ${amountCents}`) ?? [];
    found.delete(`${kind} ${amountCents}`);
    const own = kept.get(String(amountCents)) ?? [];
    const ids = [...new Set(reported.flatMap((each) => (each.outcome === 'done' ? [each.id] : [])))];
    // A payment whose address was never returned does no harm, so after an unknown outcome a key may create another.
    const most = kind === 'cardPayment' ? reported.length : 1;
    if (there.length > most) complain(`was done ${there.length} times`);
    if (ids.length > 1) complain('has several answers');
    if (ids.length > 0 && kind !== 'transfer' && !there.some(({ id }) => id === ids[0]))
      complain('was reported as done, and is not there');
    if (ids.length > 0 && there.length === 0) complain('was reported as done, and is not there');
    if (there.length > 0 && reported.every(({ outcome }) => outcome === 'refused'))
      complain('was refused, and is there');
    if (own.length > 1) complain(`has ${own.length} intents`);
    const [intent] = own;
    if (!intent) {
      if (there.length > 0 || reported.some(({ outcome }) => outcome === 'done' || outcome === 'unknown'))
        complain('is not kept');
      continue;
    }
    if (key !== null && intent.key !== key) complain(`is kept as ${intent.key}`);
    const shouldBe = there.length > 0 ? ['done'] : ['refused', 'absent'];
    if (!shouldBe.includes(intent.state)) complain(`is ${intent.state}, and there ${there.length} times`);
    if (
      intent.state === 'done' &&
      kind !== 'subaccountPayout' &&
      !there.some(({ id }) => id === intent.resourceId)
    )
      complain(`is kept as ${intent.resourceId}, and there it is ${there[0]?.id}`);
  }
  for (const [name, [one]] of found)
    if (one!.amountCents < OURS) complaints.push(`${name}: nobody has asked for it`);
  return complaints;
}

/** The amounts with which a test's requests begin. */
const OURS = 500_000_000;

/** The differences between the mirror and the service's tables. */
export function complaintsOfMirror({ made }: ServiceBooks, { observed, events }: FacadeBooks): string[] {
  const complaints: string[] = [];
  const found = new Map(made.map((each) => [`${RESOURCE[each.kind]} ${each.id}`, each]));
  const reported = groupedBy(events, ({ resource, id }) => `${resource} ${id}`);
  for (const { resource, id, version, status } of observed) {
    const there = found.get(`${resource} ${id}`);
    const name = `${resource} ${id}`;
    if (there?.status !== status) complaints.push(`${name} is ${status} here and ${there?.status} there`);
    const history = reported.get(name) ?? [];
    const isInOrder = history.every(({ number }, index) => number > (history[index - 1]?.number ?? 0));
    if (!isInOrder || history.at(-1)?.number !== version)
      complaints.push(
        `${name} has version ${version} and was reported as ${history.map(({ number }) => number)}`,
      );
    if (history.at(-1)?.status !== status)
      complaints.push(`${name} is ${status}, reported was ${history.at(-1)?.status}`);
    complaints.push(...forbidden(history).map((step) => `${name} went ${step}`));
  }
  return complaints;
}

const RESOURCE: Record<Kind, string> = {
  payout: 'payout',
  subaccountPayout: 'subaccount_payout',
  cardPayment: 'card_payment',
  transfer: 'transfer',
};

/** The transitions of the document's section 3. A step that no facade saw may be left out. */
const MAY_FOLLOW: Record<string, readonly string[]> = {
  // Another member of it has become known.
  processing: ['processing', 'completed', 'failed', 'reversed', 'denied', 'never made'],
  failed: ['failed', 'reversed'],
  pending: [
    'pending',
    'processing',
    'completed',
    'denied',
    'paid',
    'expired',
    'failed',
    'refunded',
    'never made',
  ],
  // The same key was used again, and now created a payout.
  'never made': ['never made', 'pending', 'processing', 'completed', 'failed', 'reversed', 'denied'],
  paid: ['paid', 'refunded'],
  completed: ['completed'],
  denied: ['denied'],
  reversed: ['reversed'],
};

/** The steps of a history that the document does not allow. */
function forbidden(history: readonly Pick<LoggedEvent, 'status' | 'neverMade'>[]): string[] {
  const steps = history.map(({ status, neverMade }) => (neverMade ? 'never made' : status));
  return steps.flatMap((step, index) => {
    const before = steps[index - 1];
    return before === undefined || MAY_FOLLOW[before]?.includes(step) ? [] : [`from ${before} to ${step}`];
  });
}

/** A snapshot to compare before and after something that should change nothing. */
export function stateOf({ observed, events, intents }: FacadeBooks) {
  return { observed, events, intents };
}

/** The end of each expectation whose outcome was unknown at first. */
export function endsOfUnknown(expectations: readonly Expectation[], { made }: ServiceBooks): string[] {
  const there = new Set(made.map(({ kind, amountCents }) => `${kind} ${amountCents}`));
  return expectations
    .filter(({ reported }) => reported.some(({ outcome }) => outcome === 'unknown' || outcome === 'unheard'))
    .map(({ kind, amountCents }) => `${kind} ${there.has(`${kind} ${amountCents}`) ? 'done' : 'never done'}`);
}

export function words(reported: Reported): string {
  return reported.outcome === 'refused' ? reported.code : reported.outcome;
}

function groupedBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(nameOf(item), [...(groups.get(nameOf(item)) ?? []), item]);
  return groups;
}

/** Writes `3 × this, 2 × that`, the most frequent first. */
export function counted(names: readonly string[]): string {
  return [...groupedBy(names, (name) => name)]
    .sort(([, left], [, right]) => right.length - left.length)
    .map(([name, all]) => `${all.length} × ${name}`)
    .join(', ');
}

/** Runs a number of tasks at the same time, until all have ended or one fails. */
export async function inParallel<Item>(
  items: readonly Item[],
  places: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: places }, async () => {
      while (next < items.length) await work(items[next++]!);
    }),
  );
}
