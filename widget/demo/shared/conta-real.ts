/**
 * In front of a real service there is neither a simulator nor a REST interface of one's own, and who pays has paid: the
 * page says what is so there, and what is so of a simulated account alone leaves it.
 */
export function mostrarContaReal(): void {
  for (const element of document.querySelectorAll('[data-so=simulada]')) element.remove();
  for (const element of document.querySelectorAll<HTMLElement>('[data-so=real]')) element.hidden = false;
}
