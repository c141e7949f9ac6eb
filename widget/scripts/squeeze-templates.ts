import { transform as squeezeStyles } from 'lightningcss';
import { type Plugin, parseSync, Visitor } from 'vite';

/** Minifies html`` and css`` templates, which minifiers of JavaScript leave as they are. */
export function squeezeTemplates(): Plugin {
  return {
    name: 'squeeze-templates',
    transform(code, id) {
      if (id.includes('node_modules') || !/\b(html|css)`/.test(code)) return undefined;
      const edits: { start: number; end: number; text: string }[] = [];
      const visitor = new Visitor({
        TaggedTemplateExpression({ tag, quasi: { quasis } }) {
          if (tag.type !== 'Identifier' || !/^(html|css)$/.test(tag.name)) return;
          const texts = quasis.map(({ value }) => value.raw);
          const squeezed = tag.name === 'html' ? squeezeMarkup(texts).map(unquote) : texts.map(squeezeCss);
          // Without a backslash a raw text is the text itself.
          if (tag.name === 'css' && texts.length === 1 && !texts[0]?.includes('\\'))
            edits.push({ start: tag.start, end: tag.end, text: '' });
          quasis.forEach(({ start, end, value }, at) => {
            // Parsers differ in whether the positions include the backtick and `${`.
            const from = code.indexOf(value.raw, start);
            if (from <= end)
              edits.push({ start: from, end: from + value.raw.length, text: squeezed[at] ?? '' });
          });
        },
      });
      visitor.visit(parseSync(id, code).program);
      let squeezed = code;
      for (const { start, end, text } of edits.sort((a, b) => b.start - a.start))
        squeezed = squeezed.slice(0, start) + text + squeezed.slice(end);
      return { code: squeezed, map: null };
    },
  };
}

/**
 * Minifies the texts between a template's expressions. A line break between two tags or expressions is layout and is
 * removed; one beside a word becomes a space, as in HTML.
 */
function squeezeMarkup(texts: readonly string[]): string[] {
  let inside: 'text' | 'tag' | '"' | "'" = 'text';
  return texts.map((text) =>
    text.replace(/["'<>]|\s+/g, (found, offset: number) => {
      const before = text.slice(0, offset).at(-1);
      const after = text.at(offset + found.length);
      if (inside === '"' || inside === "'") {
        if (found === inside) inside = 'tag';
      } else if (found === '<') inside = /[a-z/!]/i.test(after ?? '') ? 'tag' : inside;
      else if (found === '>') inside = 'text';
      else if (found === '"' || found === "'") inside = inside === 'tag' ? found : inside;
      // The slash of `/>` must not become the end of a value without quotes.
      else if (inside === 'tag') return after === '>' ? '' : ' ';
      else if (found.includes('\n') && isEdge(before) && isEdge(after)) return '';
      else return ' ';
      return found;
    }),
  );
}

/** Removes the quotes of attribute values that are a single word; before `/>` they stay. */
function unquote(text: string): string {
  return text.replace(/( [\w-]+=)"([\w-]+)"(?=[ >])/g, '$1$2');
}

/** Tells whether white space borders on a tag, an expression or the template's end. */
function isEdge(character: string | undefined): boolean {
  return character === undefined || character === '<' || character === '>';
}

/** Minifies styles. */
function squeezeCss(text: string): string {
  const { code } = squeezeStyles({ filename: 'styles.css', code: Buffer.from(text), minify: true });
  return code.toString().replaceAll(', ', ',');
}
