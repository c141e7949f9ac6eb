/** An account, as the server describes it to the pages. */
export interface Account {
  /** Whether bank and acquirer are simulated. Otherwise the money is real, and there is no simulator page. */
  simulated: boolean;
  /** Whether the server has the merchant's console. */
  console: boolean;
}

/**
 * Adapts the page to its account: shows the link to the merchant's console where there is one. Of a real account it removes the
 * elements that hold for a simulated one alone (the links to the simulator and to the REST interface, and the line that nothing
 * is charged) and shows those for a real one.
 */
export function showAccount({ simulated, console }: Account): void {
  if (console) reveal('console');
  if (simulated) return;
  for (const element of document.querySelectorAll('[data-only=simulated]')) element.remove();
  reveal('real');
}

function reveal(condition: string): void {
  for (const element of document.querySelectorAll<HTMLElement>(`[data-only=${condition}]`))
    element.hidden = false;
}

/** Adapts a page without a configuration of its own. Without an answer the page stays as it is. */
export async function loadAccount(): Promise<void> {
  const response = await fetch('/demo/account.json').catch(() => null);
  if (response?.ok) showAccount((await response.json()) as Account);
}
