import { type RawBuilder, sql as raw } from 'kysely';
import { z } from 'zod';
import { findNamedAccount } from '../../../access/administration.ts';
import { selectMode } from '../../../access/store.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { ValidationError } from '../../../kernel/errors.ts';
import { isoText } from '../../../kernel/instant.ts';
import { instantOf, plusMonths } from '../../../kernel/sao-paulo.ts';
import type { Environment, Tenant } from '../../../kernel/tenant.ts';
import { plainText } from '../../../kernel/text.ts';
import type { Wallet } from '../../../money-out/wallet/model.ts';
import { createRemoteStatement } from '../../../money-out/wallet/remote/statement-service.ts';
import type { ClosingLine, StatementService, WalletEntry } from '../../../money-out/wallet/statement.ts';
import { createStatementService } from '../../../money-out/wallet/statement-service.ts';
import type { Database, Sql } from '../../../state/db/database.ts';
import { ofTenant } from '../../../state/db/of-tenant.ts';
import { firstVersionSince } from '../../../state/events/instants.ts';
import { selectBeginning } from '../../retention/row-store.ts';
import { type Entry, FIGURE_NAMES, type Figures, membersOf, month, PARTS, type Report } from './format.ts';

// What an archive is made of, page by page: the process that writes the file may not be the one that has the database open.

const text = plainText({ max: 255 });
const tenant = { accountId: text, environment: z.enum(['live', 'sandbox']) };

export const openArchiveInput = z.strictObject({
  accountId: text.optional(),
  environment: tenant.environment.optional(),
  month,
});
export const reportArchiveInput = z.strictObject({ ...tenant, month });
export const readArchiveInput = z.strictObject({
  ...tenant,
  month,
  part: z.enum(PARTS),
  /** The `next` of the page before; left out for the first one. */
  after: z
    .string()
    .regex(/^\d{1,16}(?:\/\d{1,16})?$/)
    .optional(),
});

/** The sums of a month of one tenant. */
export interface MonthReport {
  readonly startsAt: string;
  readonly endsAt: string;
  readonly books: 'own' | 'seen';
  /** The month before; null if the tenant had no entry before this month. */
  readonly previousMonth: string | null;
  /** The instant at which the log begins, if older events of the month may have gone by their age; null otherwise. */
  readonly eventsFrom: string | null;
  readonly report: Report;
}

export interface ArchiveSource {
  /**
   * Finds the tenants whose month is archived. @throws NotFoundError, ValidationError (the month is not over)
   */
  openArchive(input: z.output<typeof openArchiveInput>): Promise<{ tenants: Tenant[] }>;
  reportArchive(input: z.output<typeof reportArchiveInput>): Promise<MonthReport>;
  /** Reads a page of a part as lines of JSON; `next` is null after the last one. */
  readArchive(input: z.output<typeof readArchiveInput>): Promise<{ lines: string[]; next: string | null }>;
}

/** A commit that began in a month may end a little after it, and the clocks of two servers differ. */
const SETTLES_MS = 3_600_000;

/** Rows of a page: a delivery may have ten attempts of 12 kB. */
const PAGE: Record<(typeof PARTS)[number], number> = { statement: 500, events: 200, deliveries: 50 };

export function createArchiveSource({
  database,
  clock,
}: {
  database: Database;
  clock: Clock;
}): ArchiveSource {
  const { sql } = database;

  /** The statement and whose it is: the mode of the database, not of the process, which may not know it. */
  async function booksOf(): Promise<{ books: 'own' | 'seen'; statement: StatementService }> {
    return (await selectMode(sql))?.kind === 'remote'
      ? { books: 'seen', statement: createRemoteStatement({ database }) }
      : { books: 'own', statement: createStatementService({ database }) };
  }

  return {
    async openArchive({ accountId, environment, month: name }) {
      const { endsAt } = boundsOf(name);
      const settledAt = new Date(endsAt.getTime() + SETTLES_MS);
      if (clock.now() < settledAt)
        throw new ValidationError([
          { path: 'month', message: `is not over: it can be archived from ${isoText(settledAt)} on` },
        ]);
      const account = accountId === undefined ? undefined : await findNamedAccount(sql, accountId);
      return { tenants: await selectTenants(sql, { account, environment }) };
    },

    async reportArchive({ month: name, ...of }) {
      const period = boundsOf(name);
      const { books, statement } = await booksOf();
      const justBefore = new Date(period.startsAt.getTime() - 1);
      const [{ opening, closing, lines }, before, beginning] = await Promise.all([
        statement.closing(of, period),
        statement.at(of, justBefore),
        selectBeginning(sql, of),
      ]);
      return {
        startsAt: isoText(period.startsAt),
        endsAt: isoText(period.endsAt),
        books,
        previousMonth: before?.entry ? monthBefore(name) : null,
        eventsFrom: beginning && beginning > period.startsAt ? isoText(beginning) : null,
        report: { opening: figuresOf(opening), closing: figuresOf(closing), lines: sortedByKind(lines) },
      };
    },

    async readArchive({ month: name, part, after, ...of }) {
      const period = boundsOf(name);
      const page = { ...period, after, limit: PAGE[part] };
      if (part === 'events') return readEvents(sql, of, page);
      if (part === 'deliveries') return readDeliveries(sql, of, page);
      return readStatement((await booksOf()).statement, of, page);
    },
  };
}

interface Page {
  startsAt: Date;
  endsAt: Date;
  after: string | undefined;
  limit: number;
}

// ── The month ───────────────────────────────────────────────────────────────────────────────────

/** The start and the end of a month by the clocks of São Paulo. */
function boundsOf(name: string): { startsAt: Date; endsAt: Date } {
  const first = firstDayOf(name);
  return { startsAt: instantOf(first), endsAt: instantOf(plusMonths(first, 1)) };
}

function firstDayOf(name: string) {
  const [year, number] = name.split('-').map(Number);
  return { year: year!, month: number!, day: 1 };
}

function monthBefore(name: string): string {
  const { year, month: number } = plusMonths(firstDayOf(name), -1);
  return `${year}-${String(number).padStart(2, '0')}`;
}

async function selectTenants(
  sql: Sql,
  { account, environment }: { account: string | undefined; environment: Environment | undefined },
): Promise<Tenant[]> {
  const rows = await sql
    .selectFrom('stream')
    .select(['account_id as accountId', 'environment'])
    .$if(account !== undefined, (query) => query.where('account_id', '=', account!))
    .$if(environment !== undefined, (query) => query.where('environment', '=', environment!))
    .orderBy('account_id')
    .orderBy('environment')
    .execute();
  return rows;
}

// ── The statement ───────────────────────────────────────────────────────────────────────────────

async function readStatement(
  statement: StatementService,
  of: Tenant,
  { startsAt, endsAt, after, limit }: Page,
) {
  const { items, more } = await statement.list(of, {
    ...{ createdAfter: startsAt, createdBefore: endsAt },
    ...{ end: 'last', limit, before: after === undefined ? undefined : Number(after) },
  });
  const rows = [...items].reverse();
  return {
    lines: rows.map(({ entry }) => JSON.stringify(entryOf(entry))),
    next: more && rows.length > 0 ? String(rows.at(-1)!.position) : null,
  };
}

function entryOf({ createdAt, after, unexplainedCents: _, seenAt: __, ...entry }: WalletEntry): Entry {
  const { number, kind, reference, resource, subaccountId, ...changes } = entry;
  return {
    ...{ number, kind, reference, resource, subaccountId, createdAt: isoText(createdAt) },
    ...changes,
    after: figuresOf(after),
  };
}

/** Lines in an order that is the same in every database. */
function sortedByKind(lines: readonly ClosingLine[]): ClosingLine[] {
  return [...lines].sort((left, right) => (left.kind < right.kind ? -1 : 1));
}

function figuresOf(wallet: Wallet): Figures {
  return membersOf(FIGURE_NAMES, (name) => wallet[name]);
}

// ── The log and the webhooks ────────────────────────────────────────────────────────────────────

async function readEvents(sql: Sql, of: Tenant, { startsAt, endsAt, after, limit }: Page) {
  const [from, before] =
    after === undefined
      ? [await firstVersionSince(sql, of, startsAt), await firstVersionSince(sql, of, endsAt)]
      : after.split('/').map(Number);
  const rows = await ofTenant(sql, 'event', of)
    .selectAll()
    .where('version', '>=', from!)
    .where('version', '<', before!)
    .orderBy('version')
    .limit(limit)
    .execute();
  return {
    lines: rows.map(lineOfRow),
    next: rows.length < limit ? null : `${rows.at(-1)!.version + 1}/${before}`,
  };
}

async function readDeliveries(sql: Sql, of: Tenant, { startsAt, endsAt, after, limit }: Page) {
  const isOf = raw<boolean>`account_id = ${of.accountId} and environment = ${of.environment}`;
  const [ms, number] = after?.split('/').map(Number) ?? [];
  const behind: RawBuilder<boolean> =
    ms === undefined
      ? raw`true`
      : raw`(created_at, number) > (${new Date(ms)}::timestamptz, ${number}::bigint)`;
  const { rows } = await raw<{ number: number; webhook_id: string; created_at: Date }>`
    select * from webhook_delivery
    where ${isOf} and created_at >= ${startsAt} and created_at < ${endsAt} and ${behind}
    order by created_at, number limit ${limit}
  `.execute(sql);
  const last = rows.at(-1);
  if (!last) return { lines: [], next: null };
  const ids = rows.map(({ webhook_id: id }) => id);
  const attempts = await sql
    .selectFrom('webhook_attempt')
    .selectAll()
    .where('webhook_id', 'in', ids)
    .orderBy('number')
    .execute();
  return {
    lines: rows.map((row) =>
      lineOfRow({ ...row, attempts: attempts.filter((each) => each.webhook_id === row.webhook_id) }),
    ),
    // The row itself may have gone by the next page.
    next: rows.length < limit ? null : `${last.created_at.getTime()}/${last.number}`,
  };
}

/** A row as it is stored: instants in UTC, jsonb in the order of PostgreSQL. */
function lineOfRow(row: object): string {
  return JSON.stringify(row);
}
