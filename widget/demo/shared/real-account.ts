/**
 * Adapts the page to a real account: removes the elements that hold for a simulated one alone (the links to the
 * simulator and to the REST interface, and the line that nothing is charged) and shows those for a real one.
 */
export function showRealAccount(): void {
  for (const element of document.querySelectorAll('[data-only=simulated]')) element.remove();
  for (const element of document.querySelectorAll<HTMLElement>('[data-only=real]')) element.hidden = false;
}

/** Shows the links to the merchant's console, which this server has. */
export function showConsole(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-only=console]')) element.hidden = false;
}

/** Adapts a page without a configuration of its own. Without an answer the page stays as it is. */
export async function showAccount(): Promise<void> {
  const response = await fetch('/demo/dashboard/config.json').catch(() => null);
  if (response?.ok && !((await response.json()) as { simulated: boolean }).simulated) showRealAccount();
}
