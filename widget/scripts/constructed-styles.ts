import type { Plugin } from 'vite';

/** Removes Lit's styles for browsers without constructed style sheets, which the elements need anyway. */
export function constructedStyles(): Plugin {
  return {
    name: 'constructed-styles',
    transform(code, id) {
      if (!id.endsWith('reactive-element/css-tag.js')) return undefined;
      const assumed = code.replace(/\w+\.ShadowRoot&&.*?"replace"in CSSStyleSheet\.prototype/, 'true');
      if (assumed === code) throw new Error(`${id} looks for constructed style sheets in another way`);
      return { code: assumed, map: null };
    },
  };
}
