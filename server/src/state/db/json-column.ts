import type { ColumnType } from 'kysely';

/** A jsonb column: written as text, read parsed. */
export type Json<Value> = ColumnType<Value, string, string>;
