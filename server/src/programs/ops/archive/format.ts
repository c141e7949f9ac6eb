import { z } from 'zod';
import { WALLET_ENTRY_KINDS, type WalletChanges } from '../../../money-out/wallet/statement.ts';

// An archive is a tar of a signed manifest and of three parts, each of lines of JSON. A person without this program checks one with
// tar, openssl, gunzip and sha256sum. The manifest names the parts by the hash of their text, because the bytes of gzip differ
// between versions of zlib.

/** An error that a person has to correct: the message says how. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

const FORMAT = 1;

/** The parts, in the order of the file. */
export const PARTS = ['statement', 'events', 'deliveries'] as const;
export type Part = (typeof PARTS)[number];

/** The names of the files in the tar, in their order. */
export const MANIFEST = 'manifest.json';
export const SIGNATURE = 'manifest.sig';
export const PUBLIC_KEY = 'public-key.pem';
export const partFile = (part: Part) => `${part}.ndjson.gz`;

/** The figures of a wallet, each with the name of its change in an entry. */
const FIGURES = {
  balanceCents: 'amountCents',
  subaccountsBalanceCents: 'subaccountsDeltaCents',
  pendingReleaseCents: 'pendingReleaseDeltaCents',
  disputeBlockedCents: 'disputeBlockedDeltaCents',
  receivableCents: 'receivableDeltaCents',
  cryptoBalanceLitoshi: 'litoshiDelta',
} as const satisfies Record<string, keyof WalletChanges>;
type Figure = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as readonly Figure[];

const CHANGES = [...Object.values(FIGURES), 'feeCents'] as const;

/** Creates an object with a member for each name. */
export function membersOf<Name extends string, Value>(
  names: readonly Name[],
  memberOf: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, memberOf(name)])) as Record<Name, Value>;
}

// ── The manifest ────────────────────────────────────────────────────────────────────────────────

/** A figure is null if another service has not shown it. */
const figures = z.strictObject(membersOf(FIGURE_NAMES, () => z.int().nullable()));
const changes = {
  ...membersOf(Object.values(FIGURES), () => z.int()),
  // Null if another service has not shown it.
  feeCents: z.int().nullable(),
};
const kind = z.enum([...WALLET_ENTRY_KINDS, 'unknown']);
const hash = z.string().regex(/^[0-9a-f]{64}$/);
export const month = z.string().regex(/^20\d\d-(?:0[1-9]|1[0-2])$/, 'must be a month, as 2026-10');

/** The statement of a period in sums: each figure of `opening` and its changes in `lines` add up to that of `closing`. */
const report = z.strictObject({
  opening: figures,
  closing: figures,
  lines: z.array(z.strictObject({ kind, count: z.int().min(1), ...changes })),
});
export type Report = z.infer<typeof report>;
export type Figures = Report['opening'];

export const manifest = z.strictObject({
  psaArchive: z.literal(FORMAT),
  accountId: z.string(),
  environment: z.enum(['live', 'sandbox']),
  month,
  /** The month starts and ends by the clocks of this zone. */
  timeZone: z.string(),
  startsAt: z.iso.datetime(),
  endsAt: z.iso.datetime(),
  /** `seen`: the books are another service's, and the statement has what was seen of its wallet. */
  books: z.enum(['own', 'seen']),
  /** The month before, with the hash of its part `statement`; null if the account had no entry before this month. */
  previous: z.strictObject({ month, statementSha256: hash }).nullable(),
  report,
  parts: z.array(
    z.strictObject({ name: z.enum(PARTS), rows: z.int().min(0), bytes: z.int().min(0), sha256: hash }),
  ),
});
export type Manifest = z.infer<typeof manifest>;
/** The size of a part before it is compressed. */
export type PartSummary = Omit<Manifest['parts'][number], 'name'>;

export const FORMAT_MEMBERS = { psaArchive: FORMAT, timeZone: 'America/Sao_Paulo' } as const;

export function textOf(content: Manifest): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** @throws ArchiveError */
export function parseManifest(text: string): Manifest {
  const format = (parseJson(text) as { psaArchive?: unknown } | null)?.psaArchive;
  if (typeof format === 'number' && format > FORMAT)
    throw new ArchiveError('it was written by a newer version: verify it with that one');
  const { data } = manifest.safeParse(parseJson(text));
  if (data?.parts.map(({ name }) => name).join() !== PARTS.join())
    throw new ArchiveError('its manifest is not whole');
  return data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// ── The part `statement` ────────────────────────────────────────────────────────────────────────

/** A line of the statement: its opening figures first, then the entries, and its closing figures. */
const entry = z.strictObject({
  number: z.int(),
  kind,
  reference: z.string().nullable(),
  resource: z.strictObject({ type: z.string(), id: z.string() }).nullable(),
  subaccountId: z.string().nullable(),
  createdAt: z.iso.datetime(),
  ...changes,
  after: figures,
});
export type Entry = z.infer<typeof entry>;

export const openingLine = (opening: Figures) => JSON.stringify({ opening });
export const closingLine = (closing: Figures) => JSON.stringify({ closing });

/** Checks a statement line by line against the sums of its month. */
export interface StatementCheck {
  /** @throws ArchiveError */
  line(text: string): void;
  /** @throws ArchiveError */
  end(): void;
}

/** Each entry continues the one before, and the entries of each kind are those of its line in the report. */
export function createStatementCheck({
  startsAt,
  endsAt,
  report: expected,
}: Pick<Manifest, 'startsAt' | 'endsAt' | 'report'>): StatementCheck {
  const sums = new Map<string, Record<string, number | null>>();
  let figuresNow: Figures | null = null;
  let lastNumber = Number.NEGATIVE_INFINITY;
  let lastAt = startsAt;
  let closed = false;

  function read(text: string): Entry {
    const { data } = entry.safeParse(parseJson(text));
    if (!data) throw new ArchiveError('a line of its statement cannot be read');
    return data;
  }

  function add(each: Entry): void {
    const at = `entry ${each.number} of its statement`;
    if (each.number <= lastNumber || each.createdAt < lastAt || each.createdAt >= endsAt)
      throw new ArchiveError(`${at} is not in its order`);
    [lastNumber, lastAt] = [each.number, each.createdAt];
    const wrong = figureThatDiffers(figuresNow!, [each], each.after);
    if (wrong) throw new ArchiveError(`${at} does not continue the one before: ${wrong}`);
    figuresNow = each.after;
    const sum = sums.get(each.kind) ?? membersOf(['count', ...CHANGES], (): number | null => 0);
    sums.set(each.kind, sum);
    for (const [name, moved] of [
      ['count', 1] as const,
      ...CHANGES.map((name) => [name, each[name]] as const),
    ])
      sum[name] = moved === null || sum[name] == null ? null : sum[name] + moved;
  }

  return {
    line(text) {
      if (closed) throw new ArchiveError('something follows the end of its statement');
      if (figuresNow === null) {
        if (text !== openingLine(expected.opening))
          throw new ArchiveError('its statement does not begin with its opening figures');
        figuresNow = expected.opening;
      } else if (text === closingLine(expected.closing)) closed = true;
      else add(read(text));
    },
    end() {
      if (!closed) throw new ArchiveError('its statement does not end with its closing figures');
      const wrong = figureThatDiffers(figuresNow!, [], expected.closing);
      if (wrong) throw new ArchiveError(`its last entry does not lead to its closing figures: ${wrong}`);
      for (const line of expected.lines) {
        const own = sums.get(line.kind);
        const name = (['count', ...CHANGES] as const).find((each) => own?.[each] !== line[each]);
        if (name)
          throw new ArchiveError(`the sum of its entries ${line.kind} is not that of its report: ${name}`);
        sums.delete(line.kind);
      }
      if (sums.size > 0) throw new ArchiveError(`its report has no line of ${[...sums.keys()].join(', ')}`);
    },
  };
}

/** Checks that each figure of opening and its changes in the lines add up to that of closing. @throws ArchiveError */
export function assertReportHolds({ opening, closing, lines }: Report): void {
  const wrong = figureThatDiffers(opening, lines, closing);
  if (wrong) throw new ArchiveError(`opening and lines of its report are not closing: ${wrong}`);
}

/** The name of the first figure whose value before, with the changes, is not its value after. */
function figureThatDiffers(
  before: Figures,
  moved: readonly Record<(typeof FIGURES)[Figure], number>[],
  after: Figures,
): Figure | undefined {
  return FIGURE_NAMES.find((name) => {
    const [from, to] = [before[name], after[name]];
    // What another service has not shown has not moved, as far as anybody knows.
    if (from === null || to === null) return false;
    return moved.reduce((sum, each) => sum + each[FIGURES[name]], from) !== to;
  });
}
