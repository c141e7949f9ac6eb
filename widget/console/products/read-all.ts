import { type Answer, type Api, ask } from '../api.ts';
import type { Page } from './operations.ts';

/** A whole list, or the code for which it was refused; `staleSince` as in an answer. */
export interface Whole<Item> {
  items: Item[] | null;
  code: string | undefined;
  staleSince: Date | null;
}

/** Reads a list to its end, page by page. `field` is its root field. Rejects where nothing was answered. */
export async function readAll<Item>(api: Api, document: string, field: string): Promise<Whole<Item>> {
  const items: Item[] = [];
  let staleSince: Date | null = null;
  let after: string | null = null;
  do {
    const answer: Answer<Record<string, Page<Item>>> = await ask(api, document, { after });
    staleSince ??= answer.staleSince;
    const page = answer.data[field];
    if (!page) return { items: null, code: answer.codes[field], staleSince };
    items.push(...page.nodes);
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  } while (after !== null && !api.leaving.aborted);
  return { items, code: undefined, staleSince };
}
