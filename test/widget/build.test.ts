// What the build does to the sources beyond compiling them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the source of templates
import { describe, expect, it } from 'vitest';
import { leanLit } from '../../widget/scripts/lean-lit.ts';
import { squeezeTemplates } from '../../widget/scripts/squeeze-templates.ts';

describe('templates lose their layout, and what is read keeps its spaces', () => {
  it.each([
    ['between tags', '<p>\n  <b>a</b>\n  <i>b</i>\n</p>', '<p><b>a</b><i>b</i></p>'],
    ['between expressions', '<p>\n  ${a}\n  ${b}\n</p>', '<p>${a}${b}</p>'],
    ['beside a word', '<p>\n  one\n  <b>two</b> three\n</p>', '<p> one <b>two</b> three </p>'],
    ['in one line', '<b>a</b> <i>b</i> ${c}', '<b>a</b> <i>b</i> ${c}'],
    [
      'inside a tag',
      '<p\n  class="x"\n  ?hidden=${a}\n  @click=${b}\n>',
      '<p class="x" ?hidden=${a} @click=${b}>',
    ],
    ['inside an attribute', '<p title="a\n  b  ${c} d"\n  id="e">', '<p title="a\n  b  ${c} d" id="e">'],
    ['before the end of a tag', '<path\n  d=${a}\n  />', '<path d=${a} />'],
    ['around an apostrophe', "<p>it's</p>\n<p>it's</p>", "<p>it's</p><p>it's</p>"],
    [
      'in a template within',
      '<p>\n  ${a ? html`\n    <b>\n      ${b}\n    </b>\n  ` : 0}\n</p>',
      '<p>${a ? html`<b>${b}</b>` : 0}</p>',
    ],
  ])('%s', async (_, markup, squeezed) => {
    expect(await squeeze(`const t = html\`${markup}\`;`)).toBe(`const t = html\`${squeezed}\`;`);
  });

  it('styles, with short names for what is the element’s own', async () => {
    const styles = 'a {\n  --_tone: var(--psa-color, red);\n  color: var(--_tone);\n  margin: 0.50px;\n}\n';
    expect(await squeeze(`const t = css\`${styles}\`;`)).toBe(
      'const t = css`a{--_0:var(--psa-color,red);color:var(--_0);margin:.5px}`;',
    );
  });

  it.each([
    ['a lesser than', '<p>a < b ${c}</p>'],
    ['an arrow in an attribute', '<p title="a > b ${c}">'],
  ])('and no binding’s place is unclear for %s', async (_, markup) => {
    await expect(squeeze(`const t = html\`${markup}\`;`)).rejects.toThrow(/bracket/);
  });

  it('nothing outside of them', async () => {
    const code = 'const text = `a\n  b`;\nconst t = html`<b>\n</b>`;\nconst more = `<b>\n</b>`;';
    expect(await squeeze(code)).toBe(code.replace('html`<b>\n', 'html`<b>'));
  });
});

describe('the bundle’s Lit', () => {
  it.each([
    ['a binding to a property', 'html`<input .value=${a}>`'],
    ['a directive', "import { repeat } from 'lit/directives/repeat.js'"],
    ['a template of SVG', 'svg`<path/>`'],
    ['a binding to a name that HTML would change', 'html`<svg viewBox=${a}>`'],
    ['a hook', 'class A extends LitElement { firstUpdated() {} }'],
    ['a converter of its own', 'static properties = { when: { converter } }'],
    ['a binding inside a style', 'html`<style>${a}</style>`'],
  ])('refuses %s, which it has left out', (_, code) => {
    expect(() => transform(leanLit(), code, '/shop/widget/src/panel.ts')).toThrow(/left out of Lit/);
  });

  it('takes everything else', () => {
    const code = 'html`<p class="a ${b}" ?hidden=${c} @click=${d}>${e}</p>`';
    expect(transform(leanLit(), code, '/shop/widget/src/panel.ts')).toBeUndefined();
  });

  it('is not made of a Lit that is not the one that was cut', () => {
    const path = '/shop/node_modules/lit-html/development/lit-html.js';
    expect(() => transform(leanLit(), 'export const html = 1;', path)).toThrow(/has changed: there is no/);
  });
});

async function squeeze(code: string): Promise<string> {
  const result = (await transform(squeezeTemplates(), code, '/shop/widget/src/panel.ts')) as { code: string };
  return result.code;
}

/** A plugin's own step, as Vite would call it. */
function transform(plugin: { transform?: unknown }, code: string, id: string): unknown {
  const context = {
    error(message: string) {
      throw new Error(message);
    },
  };
  return (plugin.transform as (code: string, id: string) => unknown).call(context, code, id);
}
