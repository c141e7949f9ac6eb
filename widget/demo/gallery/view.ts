// The view of a gallery: the choices of its form, which its address has.

const form = document.querySelector<HTMLFormElement>('form.controls');

/** Restores the view from the address, and calls `onChange` when a choice is another. */
export function openView(onChange: () => void): void {
  for (const [name, value] of new URLSearchParams(location.search)) {
    const input = form?.querySelector<HTMLInputElement>(
      `input[name="${CSS.escape(name)}"][value="${CSS.escape(value)}"]`,
    );
    if (input) input.checked = true;
  }
  form?.addEventListener('change', onChange);
}

/** Writes the view into the address, so that a link shows it. */
export function saveView(): void {
  const data = new FormData(form ?? undefined) as unknown as Iterable<[string, string]>;
  history.replaceState(null, '', `?${new URLSearchParams([...data])}`);
}

export function chosen(name: string): string {
  return String(new FormData(form ?? undefined).get(name));
}

/** The page stays usable meanwhile. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

export function makeElement(tag: string, className: string, text = ''): HTMLElement {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}
