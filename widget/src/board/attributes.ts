import type { BoardHost } from './board-host.ts';

/** The attributes of every element of a board for typed markup; the last two are properties without an attribute. */
export interface BoardAttributes<Texts> {
  endpoint?: string | undefined;
  token?: string | undefined;
  transport?: BoardHost['transport'] | undefined;
  locale?: string | undefined;
  labels?: Partial<Texts> | undefined;
  renewToken?: BoardHost['renewToken'];
}
