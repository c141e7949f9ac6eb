import type { Law } from './law.ts';

/** The figures of a wallet, each with what a row moves of it. */
const FIGURES = {
  balanceCents: 'r.balance_delta + r.subaccounts_delta',
  subaccountsBalanceCents: 'r.subaccounts_delta',
  pendingReleaseCents: 'r.pending_delta',
  disputeBlockedCents: 'r.dispute_hold_delta',
  receivableCents: '0 - r.receivable_delta',
  cryptoBalanceLitoshi: 'r.ltc_delta',
};

/** Each row, `r`, with the one before it, `b`. */
const ROWS = `
  observed_entry r left join observed_entry b
    on b.account_id = r.account_id and b.environment = r.environment and b.number = r.number - 1`;

const MOVES = `(r.balance_delta, r.subaccounts_delta, r.pending_delta, r.dispute_hold_delta, r.ltc_delta, r.receivable_delta)
  <> (0, 0, 0, 0, 0, 0)`;

const figureOf = (column: string, figure: string) => `(${column} ->> '${figure}')::bigint`;

/** The laws of the statement of what a facade has seen. */
export const SIGHTING_LAWS: readonly Law[] = [
  {
    name: 'sightings-figures',
    scope: ['sightings'],
    explain: 'the entries lead from the figures of each sighting to those of the next',
    sql: `
      select r.number::text as entry, r.number, figure.name, figure.before, figure.moved, figure.after, figure.shown
      from ${ROWS} cross join lateral (values ${Object.entries(FIGURES)
        .map(
          ([
            figure,
            moved,
          ]) => `('${figure}', ${figureOf('b.known', figure)}, case when r.is_entry then ${moved} else 0 end,
            ${figureOf('r.known', figure)}, ${figureOf('r.wallet', figure)})`,
        )
        .join(', ')}) figure (name, before, moved, after, shown)
      -- A figure is known once it was shown, and stays known where it is shown no more.
      where figure.after is distinct from coalesce(figure.before + figure.moved, figure.shown)
        or figure.shown <> figure.after`,
  },
  {
    name: 'sightings-continue',
    scope: ['sightings'],
    explain:
      'each row continues the one before, from an opening, and what is unexplained is the sum of its lines',
    sql: `
      select r.number::text as entry, r.number, r.entries, r.seen_to, r.occurred_at, r.unexplained, b.unexplained as unexplained_before
      from ${ROWS}
      where b.number is null and (r.number, r.entries, r.unexplained, r.is_entry) <> (1, 0, 0, false)
        or r.entries <> b.entries + r.is_entry::integer or r.occurred_at < b.occurred_at or r.seen_to < b.seen_to
        or r.unexplained <> b.unexplained
          + case r.kind when 'observed' then r.balance_delta + r.subaccounts_delta else 0 end`,
  },
  {
    name: 'sightings-entries',
    scope: ['sightings'],
    explain: 'an entry moves a figure, and names its resource, unless nothing explains it',
    sql: `
      select r.number::text as entry, r.number, r.kind, r.resource, r.is_entry from observed_entry r
      where r.is_entry and not ${MOVES} or r.kind is null and (r.is_entry or ${MOVES})
        or (r.kind = 'observed') <> (r.resource is null) or r.kind = 'observed' and not r.is_entry`,
  },
  {
    name: 'sightings-log',
    scope: ['sightings'],
    explain: 'no sighting has seen a later event than the log has',
    sql: `
      select r.number::text as entry, r.number, r.seen_to, s.version as head
      from observed_entry r join stream s using (account_id, environment) where r.seen_to > s.version`,
  },
];
