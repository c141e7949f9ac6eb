// Closes a month as a bookkeeper does who has nothing but a key: by HTTP alone, without any code of the server. So this file
// imports nothing. `node close-month.ts URL KEY FROM TO` prints what does not agree.

export interface Month {
  url: string;
  key: string;
  /** The first instant of the month, and the first one behind it. */
  startsAt: string;
  endsAt: string;
}

/** The result: each difference is a line, and a month that agrees has none. */
export interface Closed {
  kinds: string[];
  comparisons: number;
  differences: string[];
}

/** The figures of the wallet, each with the name of its change. */
const DELTAS: Record<string, string> = {
  balanceCents: 'amountCents',
  subaccountsBalanceCents: 'subaccountsDeltaCents',
  pendingReleaseCents: 'pendingReleaseDeltaCents',
  disputeBlockedCents: 'disputeBlockedDeltaCents',
  receivableCents: 'receivableDeltaCents',
  cryptoBalanceLtc: 'cryptoDeltaLtc',
};
const FIGURES = Object.keys(DELTAS);
const CHANGES = [...Object.values(DELTAS), 'serviceFeeCents'];

type Row = Record<string, string | number | null>;
/** Changes by kind and name, in units of 1e-8. */
type Sums = Map<string, Map<string, bigint>>;

export async function closeMonth({ url, key, startsAt, endsAt }: Month): Promise<Closed> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const differences: string[] = [];
  let comparisons = 0;

  async function get(path: string): Promise<string> {
    const answer = await fetch(url + path, { headers });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.text();
  }
  // biome-ignore lint/suspicious/noExplicitAny: the answer is what the query asks for
  async function ask(query: string, variables: object = {}): Promise<any> {
    const body = JSON.stringify({ query, variables: { startsAt, endsAt, ...variables } });
    const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
    const { data, errors } = await answer.json();
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  }
  /** Every node of a list, page by page. */
  async function all(list: string, fields: string, inside = ''): Promise<Row[]> {
    const nodes: Row[] = [];
    for (let after: string | null = null; ; ) {
      const page = `${list.replace('(', '(first: 50, after: $after, ')} { pageInfo { hasNextPage endCursor } nodes { ${fields} } }`;
      const data = await ask(`query ($after: String) { ${inside ? `${inside} { ${page} }` : page} }`, {
        after,
      });
      const connection = Object.values(inside ? data[inside.split('(')[0]!] : data)[0] as {
        nodes: Row[];
        pageInfo: { hasNextPage: boolean; endCursor: string };
      };
      nodes.push(...connection.nodes);
      if (!connection.pageInfo.hasNextPage) return nodes;
      after = connection.pageInfo.endCursor;
    }
  }
  function same(what: string, one: bigint, other: bigint): void {
    comparisons += 1;
    if (one !== other) differences.push(`${what}: ${decimal(one)} and ${decimal(other)}`);
  }

  // The entries of the statement, one by one.
  const period = `createdAfter: "${startsAt}", createdBefore: "${endsAt}"`;
  const entries = await all(`statement(filter: { ${period} })`, `kind ${CHANGES.join(' ')}`, 'wallet');
  const sums = sumsOf(entries);
  const total = (name: string) => [...sums.values()].reduce((all, of) => all + of.get(name)!, 0n);
  const of = (kind: string, ...names: string[]) =>
    names.reduce((all, name) => all + (sums.get(kind)?.get(name) ?? 0n), 0n);

  // Opening and entries are closing: by the entries at both ends, by the wallet at both instants, and by the report.
  const ends = await ask(
    `query ($startsAt: DateTime!, $endsAt: DateTime!) { wallet {
      before: statement(first: 1, filter: { createdBefore: $startsAt }) { nodes { after { ${FIGURES.join(' ')} } } }
      last: statement(first: 1, filter: { createdBefore: $endsAt }) { nodes { after { ${FIGURES.join(' ')} } } }
      closing(startsAt: $startsAt, endsAt: $endsAt) {
        opening { ${FIGURES.join(' ')} } closing { ${FIGURES.join(' ')} } lines { kind count ${CHANGES.join(' ')} }
      } } }`,
  );
  const { before, last, closing: report } = ends.wallet;
  const rest = JSON.parse(await get(`/v1/wallet/closing?startsAt=${startsAt}&endsAt=${endsAt}`));
  for (const figure of FIGURES) {
    const opening = units(before.nodes[0]?.after[figure]);
    const closing = opening + total(DELTAS[figure]!);
    same(`${figure}: entries, the last entry`, closing, units(last.nodes[0]?.after[figure]));
    for (const [name, { opening: first, closing: end }] of Object.entries({ report, rest })) {
      same(`${figure}: entries, opening of the ${name}`, opening, units(first[figure]));
      same(`${figure}: entries, closing of the ${name}`, closing, units(end[figure]));
    }
  }

  // Each source of lines has those of the entries.
  const csv = rowsOf(await get(`/exports/statement.csv?createdAfter=${startsAt}&createdBefore=${endsAt}`));
  const lines = (await get(`/exports/statement.ndjson?createdAfter=${startsAt}&createdBefore=${endsAt}`))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const sources: Record<string, Sums> = {
    report: sumsOf(report.lines),
    // REST calls the fee as it does in a payout.
    rest: sumsOf(rest.lines.map((line: Row) => ({ ...line, serviceFeeCents: line.feeCents }))),
    csv: sumsOf(csv),
    ndjson: sumsOf(lines.slice(1, -1)),
  };
  for (const [name, own] of Object.entries(sources))
    for (const kind of new Set([...sums.keys(), ...own.keys()]))
      for (const change of CHANGES)
        same(`${kind} ${change}: entries, ${name}`, of(kind, change), own.get(kind)?.get(change) ?? 0n);

  // The other lists of the month.
  const isInside = (at: Row[string] = null) =>
    at !== null && Date.parse(`${at}`) >= Date.parse(startsAt) && Date.parse(`${at}`) < Date.parse(endsAt);
  const added = (rows: Row[], name = 'amountCents') => rows.reduce((all, row) => all + units(row[name]), 0n);

  const fields = 'method amountCents amountLtc serviceFeeCents status requestedAt processedAt returnedAt';
  const payouts = await all('payouts()', fields);
  const back = ({ status, processedAt = null, returnedAt = null }: Row) =>
    status === 'DENIED' ? processedAt : returnedAt;
  for (const [name, isLtc, amount, change] of [
    ['payouts in reais', false, 'amountCents', 'amountCents'],
    ['payouts in LTC', true, 'amountLtc', 'cryptoDeltaLtc'],
  ] as const) {
    const own = payouts.filter(({ method }) => (method === 'LTC') === isLtc);
    const begun = own.filter(({ requestedAt }) => isInside(requestedAt));
    const returned = own.filter((payout) => isInside(back(payout)));
    same(name, added(begun, amount), -of('PAYOUT', change));
    same(`${name} that came back`, added(returned, amount), of('PAYOUT_RETURN', change));
  }
  const requested = payouts.filter(({ requestedAt }) => isInside(requestedAt));
  same('the fees of payouts', added(requested, 'serviceFeeCents'), of('PAYOUT', 'serviceFeeCents'));

  const moved = ['amountCents', 'pendingReleaseDeltaCents'];
  const refunds = await all('refunds()', 'amountCents status createdAt failedAt');
  const begun = refunds.filter(({ createdAt }) => isInside(createdAt));
  same('refunds', added(begun), of('REFUND', 'receivableDeltaCents') - of('REFUND', ...moved));
  const failed = refunds.filter(({ failedAt }) => isInside(failedAt));
  same(
    'failed refunds',
    added(failed),
    of('REFUND_FAILURE', ...moved) - of('REFUND_FAILURE', 'receivableDeltaCents'),
  );

  const disputes = await all('disputes()', 'amountCents status createdAt closedAt');
  const opened = disputes.filter(({ createdAt }) => isInside(createdAt));
  const ended = disputes.filter(
    ({ status, closedAt }) => isInside(closedAt) && /WON|FORGIVEN/.test(`${status}`),
  );
  same('disputes', added(opened), of('DISPUTE_HOLD', 'disputeBlockedDeltaCents'));
  same('disputes won or forgiven', added(ended), -of('DISPUTE_RELEASE', 'disputeBlockedDeltaCents'));

  const { salesTotals } = await ask(
    `query ($startsAt: DateTime!, $endsAt: DateTime!) {
      salesTotals(filter: { paidAfter: $startsAt, paidBefore: $endsAt }, interval: DAY, groupBy: [METHOD]) {
        groups { method amountCents } } }`,
  );
  const sold = (method: string) => added(salesTotals.groups.filter((group: Row) => group.method === method));
  const gross = (kind: string) => of(kind, ...moved, 'serviceFeeCents') - of(kind, 'receivableDeltaCents');
  same('sales by card', sold('CARD'), gross('CARD_PAYMENT'));
  same('sales by PIX', sold('PIX'), gross('PAYMENT') + gross('CHARGE') + gross('SPLIT'));

  const subaccounts = await all('subaccounts()', 'subaccountId');
  const shares: Row[] = [];
  for (const { subaccountId } of subaccounts)
    shares.push(
      ...(await all(
        'statement()',
        'kind amountCents createdAt',
        `subaccount(subaccountId: "${subaccountId}")`,
      )),
    );
  const shared = (kinds: RegExp) =>
    added(shares.filter(({ kind, createdAt }) => isInside(createdAt) && kinds.test(`${kind}`)));
  const toSubaccounts = (...kinds: string[]) =>
    kinds.reduce((all, kind) => all + of(kind, 'subaccountsDeltaCents'), 0n);
  same('transfers', shared(/^TRANSFER/), toSubaccounts('SUBACCOUNT_TRANSFER'));
  same('payouts of subaccounts', shared(/^PAYOUT$/), toSubaccounts('SUBACCOUNT_PAYOUT'));
  same('those that came back', shared(/^PAYOUT_REVERSAL/), toSubaccounts('SUBACCOUNT_PAYOUT_RETURN'));
  same('splits', shared(/^SPLIT/), toSubaccounts('SPLIT', 'REFUND', 'REFUND_FAILURE'));

  return { kinds: [...sums.keys()].sort(), comparisons, differences };
}

/** Adds the changes of rows up by their kinds, which GraphQL writes in capitals. */
function sumsOf(rows: readonly Row[]): Sums {
  const sums: Sums = new Map();
  for (const row of rows) {
    const kind = `${row.kind}`.toUpperCase();
    const own = sums.get(kind) ?? new Map(CHANGES.map((name) => [name, 0n]));
    sums.set(kind, own);
    for (const name of CHANGES) own.set(name, own.get(name)! + units(row[name]));
  }
  return sums;
}

/** Reads an amount, also a decimal, without rounding. */
function units(amount: Row[string] | undefined): bigint {
  const read = /^(-?)(\d+)(?:\.(\d{1,8}))?$/.exec(`${amount || 0}`);
  if (!read) throw new Error(`${amount} is no amount`);
  const [, sign, whole, part = ''] = read;
  return BigInt(`${sign}${whole}${part.padEnd(8, '0')}`);
}

function decimal(units: bigint): string {
  return (Number(units) / 1e8).toString();
}

/** The rows of a CSV, by the names of its columns. */
function rowsOf(csv: string): Row[] {
  const lines = csv
    .trim()
    .split(/\r?\n/)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    );
  const [names = [], ...rows] = lines;
  return rows.map((cells) => Object.fromEntries(names.map((name, nth) => [name, cells[nth] ?? ''])));
}

const [, path = '', url, key, startsAt, endsAt] = process.argv;
if (path.endsWith('close-month.ts') && url && key && startsAt && endsAt) {
  const { differences, comparisons } = await closeMonth({ url, key, startsAt, endsAt });
  console.log(
    differences.length === 0 ? `${comparisons} comparisons, 0 differences` : differences.join('\n'),
  );
}
