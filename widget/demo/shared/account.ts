/** An account, as the server describes it to the pages. */
export interface Account {
  /** Whether bank and acquirer are simulated. Otherwise the money is real, and there is no simulator page. */
  simulated: boolean;
  /** Whether the server has the merchant's console. */
  console: boolean;
}

/**
 * Adapts the page to its account: removes the link to the merchant's console if there is none. Of a real account it removes the
 * elements that hold for a simulated one alone (the links to the simulator and to the REST interface, and the line that nothing
 * is charged) and shows those for a real one.
 */
export function showAccount({ simulated, console }: Account): void {
  if (!console) remove('console');
  if (simulated) return;
  remove('simulated');
  for (const element of document.querySelectorAll<HTMLElement>('[data-only=real]')) element.hidden = false;
}

function remove(condition: string): void {
  for (const element of document.querySelectorAll(`[data-only=${condition}]`)) element.remove();
}

/** Adapts a page without a configuration of its own. Without an answer the page stays as it is. */
export async function loadAccount(): Promise<void> {
  const response = await fetch('/demo/account.json').catch(() => null);
  if (response?.ok) showAccount((await response.json()) as Account);
}
