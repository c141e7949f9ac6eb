/**
 * Finds what a person cannot read on a page: texts and hints of fields that are cut off, unless a title has them, texts beyond
 * their cell or row, and a page that is wider than the window. It runs in the page, so it uses nothing else of this file.
 */
export function findCutTexts(): string[] {
  const found: string[] = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  // WebKit's gallery is 3 px wider than the window on a phone, by none of its elements.
  if (scrollWidth > clientWidth + 3) found.push(`the page: ${scrollWidth} px`);

  /** A glyph's box may be higher than its line. */
  const LEADING = 4;
  const isHidden = (overflow: string) => overflow === 'hidden' || overflow === 'clip';
  const parentOf = (node: Element | Text): Element | null =>
    node.assignedSlot ?? node.parentElement ?? (node.getRootNode() as Partial<ShadowRoot>).host ?? null;

  function isCut(text: Text): boolean {
    const words = text.data.trim();
    const parent = parentOf(text);
    if (!words || !parent?.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
    const range = document.createRange();
    range.selectNodeContents(text);
    const drawn = range.getBoundingClientRect();
    if (drawn.width === 0) return false;
    // In the direction in which an element scrolls, everything can be reached.
    const isReached = { x: false, y: false };
    let isBeyond = false;
    for (let each: Element | null = parent; each && each !== document.body; each = parentOf(each)) {
      const { left, right, top, bottom, width } = each.getBoundingClientRect();
      const { overflowX, overflowY, clipPath } = getComputedStyle(each);
      // Words for screen readers alone.
      if (clipPath !== 'none' || (width <= 1 && isHidden(overflowX))) return false;
      if (each.getAttribute('title')?.includes(words)) return false;
      const isOfTable = each.matches('td, th, tr');
      isBeyond ||=
        (!isReached.x &&
          (isOfTable || isHidden(overflowX)) &&
          (drawn.left < left - 1 || drawn.right > right + 1)) ||
        (!isReached.y &&
          (isOfTable || isHidden(overflowY)) &&
          (drawn.top < top - LEADING || drawn.bottom > bottom + LEADING));
      isReached.x ||= /auto|scroll/.test(overflowX);
      isReached.y ||= /auto|scroll/.test(overflowY);
    }
    return isBeyond;
  }

  function isCutHint(field: Element): boolean {
    if (!(field instanceof HTMLInputElement) || !field.placeholder || field.value) return false;
    const { fontFamily, fontSize, fontWeight, paddingLeft, paddingRight } = getComputedStyle(field);
    const words = document.createElement('span');
    words.textContent = field.placeholder;
    Object.assign(words.style, { fontFamily, fontSize, fontWeight, position: 'fixed', whiteSpace: 'pre' });
    field.after(words);
    const { width } = words.getBoundingClientRect();
    words.remove();
    const room = field.offsetWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
    return field.checkVisibility() && width > room + 1;
  }

  function look(root: Node): void {
    const nodes = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
      const node = nodes.currentNode as Element | Text;
      if (node instanceof Text) {
        if (isCut(node)) found.push(node.data.trim());
      } else {
        if (isCutHint(node)) found.push((node as HTMLInputElement).placeholder);
        if (node.shadowRoot) look(node.shadowRoot);
      }
    }
  }

  look(document);
  return found;
}
