/** In front of a real service there is neither a simulator nor a REST interface of one's own: nothing leads to them. */
export function esconderSimulacao(): void {
  for (const link of document.querySelectorAll('nav a:is([href="/simulator/"], [href="/v1/docs"])'))
    link.remove();
}
