/** What the tables of `migrations/` look like to the queries. One interface a table, one field a column. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the first migration
export interface Tables {}
