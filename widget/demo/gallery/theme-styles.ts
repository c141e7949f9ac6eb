import source from './themes.css?raw';

interface ThemeStyles {
  /** Custom properties of the element. */
  properties: string[];
  /** Rules of its parts. */
  parts: string[];
}

/** Reads a theme as a page of one's own has it: without the rules for the page around the element. */
export function themeStyles(theme: string): ThemeStyles {
  const styles: ThemeStyles = { properties: [], parts: [] };
  // What the first theme undoes is the shop's, and no other page has it.
  if (theme === 'default' || theme === 'all') return styles;
  const rules = source.replace(/\/\*.*?\*\//gs, '').matchAll(/([^{}]+)\{([^{}]*)\}/g);
  for (const [, selector = '', body = ''] of rules) {
    const selectors = selector.split(',').map((each) => each.trim());
    if (selectors[0] === `.theme-${theme}`) {
      const declarations = body.split(';').map((each) => each.trim().replace(/\s+/g, ' '));
      styles.properties.push(
        ...declarations.filter((each) => each.startsWith('--psa-')).map((each) => `${each};`),
      );
    } else if (selectors[0]?.startsWith(`.theme-${theme} psa-checkout::`)) {
      const own = selectors.map((each) => each.replace(`.theme-${theme} `, ''));
      styles.parts.push(`${own.join(',\n')} {${body}}`);
    }
  }
  return styles;
}
