// The build's minification of templates.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the source of templates
import { describe, expect, it } from 'vitest';
import { squeezeTemplates } from '../../widget/scripts/squeeze-templates.ts';

describe('the minification of templates', () => {
  it.each([
    ['between tags', '<p>\n  <b>a</b>\n  <i>b</i>\n</p>', '<p><b>a</b><i>b</i></p>'],
    ['between expressions', '<p>\n  ${a}\n  ${b}\n</p>', '<p>${a}${b}</p>'],
    ['beside a word', '<p>\n  one\n  <b>two</b> three\n</p>', '<p> one <b>two</b> three </p>'],
    ['in one line', '<b>a</b> <i>b</i> ${c}', '<b>a</b> <i>b</i> ${c}'],
    [
      'inside a tag',
      '<p\n  class="x"\n  ?hidden=${a}\n  @click=${b}\n>',
      '<p class=x ?hidden=${a} @click=${b}>',
    ],
    ['inside an attribute', '<p title="a\n  b  ${c} d"\n  id="e">', '<p title="a\n  b  ${c} d" id=e>'],
    [
      'around a value of one word',
      '<p class="a b" id="c"></p><i id="d"/>',
      '<p class="a b" id=c></p><i id="d"/>',
    ],
    ['before the end of a tag', '<path\n  d=${a}\n  />', '<path d=${a} />'],
    ['around an apostrophe', "<p>it's</p>\n<p>it's</p>", "<p>it's</p><p>it's</p>"],
    [
      'in a template within',
      '<p>\n  ${a ? html`\n    <b>\n      ${b}\n    </b>\n  ` : 0}\n</p>',
      '<p>${a ? html`<b>${b}</b>` : 0}</p>',
    ],
  ])('white space in markup is minified %s', async (_, markup, squeezed) => {
    expect(await squeeze(`const t = html\`${markup}\`;`)).toBe(`const t = html\`${squeezed}\`;`);
  });

  it('styles are minified', async () => {
    const styles = 'a {\n  --_tone: var(--psa-color, red);\n  color: var(--_tone);\n  margin: 0.50px;\n}\n';
    expect(await squeeze(`const t = css\`${styles}\`;`)).toBe(
      'const t = `a{--_tone:var(--psa-color,red);color:var(--_tone);margin:.5px}`;',
    );
  });

  it('code outside of the templates stays as it is', async () => {
    const code = 'const text = `a\n  b`;\nconst t = html`<b>\n</b>`;\nconst more = `<b>\n</b>`;';
    expect(await squeeze(code)).toBe(code.replace('html`<b>\n', 'html`<b>'));
  });
});

async function squeeze(code: string): Promise<string> {
  const result = (await transform(squeezeTemplates(), code, '/shop/widget/src/panel.ts')) as { code: string };
  return result.code;
}

/** Calls the plugin's transform hook, as Vite does. */
function transform(plugin: { transform?: unknown }, code: string, id: string): unknown {
  return (plugin.transform as (code: string, id: string) => unknown)(code, id);
}
