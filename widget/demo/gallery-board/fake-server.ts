// A fake server inside the page, so that each element itself draws each state: no network, no storage, and clocks that stand still.
import {
  answerRequests,
  jsonResponse,
  neverRespond,
  stopClocks,
  streamResponse,
} from '../gallery/answers.ts';
import { type Account, EMPTY, FULL } from './account.ts';

/** The fake server's behaviour towards one element. */
export interface Script {
  isEmpty?: boolean;
  /** The answer to every query in place of what it asks for: none, a status, or the code of an error. */
  answer?: 'hang' | 502 | 'RATE_LIMITED' | 'UNAUTHENTICATED' | 'FORBIDDEN';
  /** The age of what is read from a service behind the server, which gives nothing newer. */
  staleSeconds?: number;
  /** Whether that service refuses the server's key. */
  keyRefused?: boolean;
  /** `drop` ends after it has opened, and opens no more. */
  stream?: 'drop';
}

interface Variables {
  id?: string;
  ids?: string[];
  filter?: Record<string, unknown> | null;
}

type Row = { id: string; status?: string; amountCents: number };

export const ENDPOINT = '/demo/gallery-board/graphql';

const scripts = new Map<string, { script: Script; connections: number }>();

/** Assigns a script to an element's token. */
export function assignScript(token: string, script: Script): void {
  scripts.set(token, { script, connections: 0 });
}

answerRequests((address) => /\/gallery-board\/(graphql|exports\/)/.test(address), respond);
stopClocks();

function respond(address: string, { headers, body, signal, mode }: RequestInit): Promise<Response> {
  // An element that explains a mistake in the console asks whether the server can be reached.
  if (mode === 'no-cors') return Promise.resolve(new Response());
  if (address.includes('/exports/')) return jsonResponse({}, 503);
  const token = (headers as Record<string, string>).authorization?.replace('Bearer ', '') ?? '';
  const entry = scripts.get(token);
  const { script = {} } = entry ?? {};
  const { answer, staleSeconds, keyRefused } = script;
  const { query, variables } = JSON.parse(String(body)) as { query: string; variables: Variables };
  if (answer === 'hang') return neverRespond();
  if (answer === 502) return jsonResponse({}, answer);
  if (answer)
    return jsonResponse({
      errors: [{ message: answer, extensions: { code: answer, retryAfterSeconds: 30 } }],
    });
  if (query.startsWith('subscription')) {
    if (script.stream === 'drop' && entry && entry.connections++ > 0) return neverRespond();
    return streamResponse(undefined, script.stream, signal);
  }
  const upstream = { ageSeconds: staleSeconds, stale: true, keyRefused };
  return jsonResponse({
    data: answerOf(script.isEmpty ? EMPTY : FULL, variables),
    ...(staleSeconds !== undefined && { extensions: { upstream } }),
  });
}

/** All that a query of an element may ask for; it takes its part. */
function answerOf(account: Account, { id, ids, filter }: Variables): object {
  const { wallet, history, sales, payouts, entries, disputes } = account;
  const rows: readonly Row[] = [...sales, ...payouts, ...entries, ...disputes];
  const [newest, oldest] = [entries.at(0), entries.at(-1)];
  return {
    updatesCursor: 'c1',
    updateKinds: ['CARD_PAYMENT', 'CHARGE', 'DISPUTE', 'PAYMENT', 'PAYOUT', 'REFUND', 'WALLET'],
    sales: pageOf(sales, filter),
    salesTotals: totalsOf(sales, filter),
    payouts: pageOf(payouts, filter),
    payoutTotals: totalsOf(payouts, filter),
    disputes: pageOf(disputes, filter),
    wallet: {
      ...wallet,
      history,
      statement: pageOf(entries, filter),
      closing: {
        opening: { balanceCents: oldest ? (oldest.after.balanceCents ?? 0) - oldest.amountCents : 0 },
        closing: { balanceCents: newest?.after.balanceCents ?? 0 },
      },
    },
    node: rows.find((row) => row.id === id) ?? null,
    nodes: (ids ?? []).map((each) => rows.find((row) => row.id === each) ?? null),
  };
}

function pageOf(rows: readonly Row[], filter: Variables['filter']): object {
  const nodes = rows.filter((row) => isSelected(row, filter));
  const pageInfo = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };
  return { totalCount: nodes.length, nodes, pageInfo };
}

function totalsOf(rows: readonly Row[], filter: Variables['filter']): object {
  const selected = rows.filter((row) => isSelected(row, filter));
  const groups = [...new Set(selected.map(({ status }) => status))].map((status) => {
    const own = selected.filter((row) => row.status === status);
    return { status, count: own.length, amountCents: own.reduce((sum, row) => sum + row.amountCents, 0) };
  });
  return { isExact: true, groups };
}

/** Whether a row fulfils the conditions. A time has its name in the row with `At`, and any other text may be anywhere in it. */
function isSelected(row: Row, filter: Variables['filter']): boolean {
  const values = row as unknown as Record<string, unknown>;
  return Object.entries(filter ?? {}).every(([name, wanted]) => {
    if (Array.isArray(wanted)) return wanted.includes(values[name]);
    if (typeof wanted === 'number') return Math.abs(row.amountCents) === wanted;
    const [, time, side] = /^(\w+)(After|Before)$/.exec(name) ?? [];
    if (time) {
      const at = String(values[`${time}At`]);
      const bound = new Date(String(wanted)).toISOString();
      return side === 'After' ? at >= bound : at < bound;
    }
    const text = typeof wanted === 'string' ? wanted : Object.values(wanted as object).join();
    return JSON.stringify(row).toLowerCase().includes(text.toLowerCase());
  });
}
