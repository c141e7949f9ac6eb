import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

/** Text of Lit's, or a pattern, and what stands there instead. */
type Cut = [from: string | RegExp, to?: string];

const NOT_DEV: Cut[] = [
  ['const DEV_MODE = true;', 'const DEV_MODE = false;'],
  [/\(global\.\w+Versions \?\?= \[\]\)\.push\('[\d.]+'\);/],
];

const SIMPLE_TEMPLATE_HTML = `const getTemplateHtml = (strings) => {
    let bracket;
    const marked = strings.map((text) => {
        bracket = /.*([<>])/s.exec(text)?.[1] ?? bracket;
        return text + (bracket === '<' ? marker : nodeMarker);
    });
    return trustFromTemplateString(strings, marked.join(''));
};`;

/** By the module's path. Members named in `without` are left out whole. */
const CUTS: Record<string, { cuts: Cut[]; without?: string[] }> = {
  '@lit/reactive-element/development/css-tag.js': {
    // Every browser of the README's list adopts style sheets.
    cuts: [
      [/export const supportsAdoptingStyleSheets = [^;]+;/, 'const supportsAdoptingStyleSheets = true;'],
      [/if \(safeToken !== constructionToken\) \{[^}]+\}/],
      ['s instanceof CSSStyleSheet ? s : s.styleSheet', 's.styleSheet'],
      ["this['_$cssResult$'] = true;"],
      ['const strings = this._strings;', 'const strings = undefined;'],
      ['this._strings = strings;'],
      ['(value), undefined, constructionToken)', '(value))'],
      [/typeof value === 'string' \? value : String\(value\)/, 'value'],
    ],
    without: ['toString()'],
  },
  '@lit/reactive-element/development/reactive-element.js': {
    cuts: [
      ...NOT_DEV,
      [/JSCompiler_renameProperty\(('\w+'), \w+\)/g, '$1'],
      [/const polyfillSupport = [^;]+;/],
      ['polyfillSupport?.({ ReactiveElement });'],
      // Decorators.
      [/Symbol\.metadata \?\?= [^;]+;/],
      [/global\.litPropertyMetadata \?\?= [^;]+;/],
      [/const metadata = this\[Symbol\.metadata\];\s*if \(metadata !== null\)/, 'if (false)'],
      ['if (superCtor._initializers !== undefined)', 'if (false)'],
      ['this.constructor._initializers?.forEach((i) => i(this));'],
      // Options of properties: what is declared here has a type, an attribute, and may be reflected.
      ['if (this.prototype.hasOwnProperty(name))', 'if (false)'],
      ['if (options.state)', 'if (false)'],
      ['if (!options.noAccessor)', 'if (true)'],
      [/if \(elementProperties\.size > 0\) \{[\s\S]*?\n {12}\}/],
      [
        /options\.converter\?\.toAttribute !==\s*undefined\s*\? options\.converter\s*: defaultConverter/,
        'defaultConverter',
      ],
      [/typeof options\.converter === 'function'[^;]+;/, 'defaultConverter;'],
      [
        /convertedValue \?\?\s*this\.__defaultValues\?\.get\(propName\) \?\?\s*convertedValue/,
        'convertedValue',
      ],
      [
        /\(options\.hasChanged \?\? notEqual\)\(newValue, oldValue\) \|\|[^;]+;/,
        'notEqual(newValue, oldValue);',
      ],
      [/if \(useDefault && !\(this\.__defaultValues[^{]+\{/, 'if (false) {'],
      ['if (!this.hasUpdated && !useDefault)', 'if (!this.hasUpdated)'],
      ['{ useDefault, reflect, wrapped }, initializeValue', '{ reflect }'],
      [/case Object:\s*case Array:[\s\S]*?break;/g],
      [/const \{ get, set \} = [\s\S]*?\n {8}\};/],
      [/return \{\s*get,\s*set\(value\) \{/, 'return { get() { return this[key]; }, set(value) {'],
      ['get?.call(this)', 'this[key]'],
      ['set?.call(this, value)', 'this[key] = value'],
      [
        'converter: defaultConverter,\n    reflect: false,\n    useDefault: false,\n    hasChanged: notEqual,\n',
      ],
      ['getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols, ', 'getOwnPropertyNames, '],
      ['const elementProperties = this.constructor\n                .elementProperties;'],
      [
        /\[\s*\.\.\.getOwnPropertyNames\(props\),\s*\.\.\.getOwnPropertySymbols\(props\),\s*\]/,
        'getOwnPropertyNames(props)',
      ],
      [/: typeof name === 'string'\s*\? name\.toLowerCase\(\)\s*: undefined/, ': name.toLowerCase()'],
      // Hooks that nothing here hangs on.
      ['shouldUpdate = this.shouldUpdate(changedProperties);'],
      ['this.firstUpdated(changedProperties);'],
      ['this.__controllers?.forEach((c) => c.hostUpdate?.());'],
      ['this.__controllers?.forEach((c) => c.hostUpdated?.());'],
      ['const result = this.scheduleUpdate();', 'this.performUpdate();'],
      [/if \(result != null\) \{[^}]*\}/],
      ['this.getUpdateComplete()', 'this.__updatePromise'],
      [/let shouldUpdate = false;|shouldUpdate = (?:true|false);/g],
      [
        'if (shouldUpdate) {\n                this.willUpdate',
        'if (true) {\n                this.willUpdate',
      ],
      ['if (shouldUpdate) {\n            this._$didUpdate', 'if (true) {\n            this._$didUpdate'],
      // One style sheet.
      ['this.finalizeStyles(this.styles)', '[this.styles]'],
    ],
    without: [
      'static addInitializer(initializer)',
      'static finalizeStyles(styles)',
      'removeController(controller)',
      'scheduleUpdate()',
      'getUpdateComplete()',
      'shouldUpdate(_changedProperties)',
    ],
  },
  'lit-element/development/lit-element.js': {
    cuts: [
      ...NOT_DEV,
      [/JSCompiler_renameProperty\(('\w+'), \w+\)/g, '$1'],
      [/global\.litElementHydrateSupport\?\.[^;]+;/],
      [/const polyfillSupport = [^;]+;/],
      ['polyfillSupport?.({ LitElement });'],
      ["LitElement['_$litElement$'] = true;"],
      // Only directives want to know whether they are connected.
      [/if \(!this\.hasUpdated\) \{[^}]*\}/],
      ['this.__childPart = undefined;'],
      ['this.__childPart = render(', 'render('],
    ],
    // An adopted style sheet leaves the root empty: there is nothing to render before.
    without: ['connectedCallback()', 'disconnectedCallback()', 'createRenderRoot()', 'render()'],
  },
  'lit-html/development/lit-html.js': {
    cuts: [
      ...NOT_DEV,
      [/const ENABLE_(EXTRA_SECURITY_HOOKS|SHADYDOM_NOPATCH) = true;/g, 'const ENABLE_$1 = false;'],
      [/\bwrap\(wrap\(([\w.$]+)\)\.parentNode\)/, '$1.parentNode'],
      [/\bwrap\(([\w.$]+)\)/g, '$1'],
      [/const polyfillSupport = [^;]+;/],
      ['polyfillSupport?.(Template, ChildPart);'],
      // Templates of SVG and MathML, bindings inside <script>, <style>, <textarea> and <title>, in comments, to
      // properties and to elements, and templates that were compiled before.
      [/type === (SVG|MATHML)_RESULT/g, 'false'],
      [/rawTextElement\.test\([^)]+\)/g, 'false'],
      // Its parser of HTML: whether a binding stands in a tag is told by the last bracket before it, and an attribute by
      // the marker in its value, under its own name.
      [/const getTemplateHtml = [\s\S]*?\n\};/, SIMPLE_TEMPLATE_HTML],
      ['const [html, attrNames] = getTemplateHtml(strings, type);', 'const html = getTemplateHtml(strings);'],
      ['if (name.endsWith(boundAttributeSuffix)) {'],
      ['const realName = attrNames[attrNameIndex++];'],
      [
        /const m = \/([^;]+)\.exec\(realName\);\s*parts/,
        'const m = /$1.exec(name);\n if (statics.length > 1) {\n parts',
      ],
      [/(if \(data === markerMatch\) \{[^}]*\}\);\s*\})\s*else \{[\s\S]*?\n {16}\}/, '$1'],
      [/options\?\.renderBefore \?\? /g],
      [/this\.type = \w+;/g],
      [/constructor\(\) \{\s*super\(\.\.\.arguments\);\s*\}/g],
      [/constructor\(element, name, strings, parent, options\) \{\s*super[\s\S]*?\n {4}\}\n/],
      ["const { values, ['_$litType$']: type } = result;", 'const { values } = result;'],
      ['if (node.hasAttributes())', 'if (true)'],
      ['else if (node.nodeType === 8)', 'else'],
      ['value, directiveParent = this, valueIndex, noCommit', 'value, valueIndex'],
      ['change && !noCommit', 'change'],
      ['(values, part, i)', '(values, i)'],
      [/, directiveParent = this\)/g, ')'],
      ['options?.host ?? this.element', 'options.host'],
      [', options ?? {})', ', options)'],
      ["m[1] === '.'", 'false'],
      ['name.startsWith(marker)', 'false'],
      ['templatePart.type === ELEMENT_PART', 'false'],
      [/typeof type === 'number'\s*\?( [^:]+):[^;]+;/, '$1;'],
      // Directives.
      [/(?<!function )resolveDirective\(this, ([\w[\] +]+)(, [^)]+)?\)/g, '$1'],
      [/\w+ !== noChange/g, 'true'],
      [/\w+ === noChange/g, 'false'],
      [/value\.nodeType !== undefined/, 'false'],
      [/this\._\$notifyConnectionChanged\?\.\([^;]+;/g],
      [/this\._\$disconnectableChildren = undefined;/g],
      [/this\.__isConnected = [^;]+;/g],
      ['options?.creationScope ?? d', 'd'],
      // Listeners with options.
      [/ \|\|\s*newListener\.capture !==[^;]+;/, ';'],
      ["typeof this._$committedValue === 'function'", 'true'],
    ],
    without: [
      'get parentNode()',
      'get _$isConnected()',
      'get startNode()',
      'get endNode()',
      'get tagName()',
      'setConnected(isConnected)',
    ],
  },
};

/** What must not be used because it is left out: in a template, and of the element's base class. */
const ABSENT = [
  /\s\.\w+=\$\{|\s[@?]?[\w-]*[A-Z][\w-]*=["']?\$\{|['"]lit\/|\b(svg|mathml)`|<(?:script|style|textarea|title)[ >]/,
  /\b(firstUpdated|shouldUpdate|scheduleUpdate|getUpdateComplete|hostUpdated?|removeController)\b/,
  /\b(converter|hasChanged|useDefault|noAccessor|state: true|type: (Object|Array)|styles = \[)/,
];

/**
 * Leaves out of the script-tag bundle what of Lit the element has no use for, a sixth of the bundle. The build fails
 * where Lit is no longer what was cut here, and where a template uses what is not there.
 */
export function leanLit(): Plugin {
  const done = new Set<string>();
  let license = '';
  return {
    name: 'lean-lit',
    enforce: 'pre',
    // The readable one of its two builds.
    async resolveId(source, importer) {
      if (!/lit|reactive|css-tag/.test(source)) return undefined;
      const found = await this.resolve(source, importer, { skipSelf: true });
      return found?.id.replace(
        /\/(reactive-element|lit-html|lit-element)\/(?=[\w-]+\.js$)/,
        '/$1/development/',
      );
    },
    transform(code, id) {
      const path = Object.keys(CUTS).find((name) => id.endsWith(`/${name}`));
      if (!path) {
        const used = id.includes('/widget/src/') && ABSENT.map((use) => use.exec(code)?.[0]).find(Boolean);
        if (used) this.error(`${id} uses ${used.trim()}, which scripts/lean-lit.ts has left out of Lit`);
        return undefined;
      }
      done.add(path);
      license = id.replace(/development\/[\w-]+\.js$/, 'LICENSE');
      const { cuts, without = [] } = CUTS[path] ?? { cuts: [] };
      let lean = code.replace(/^ *\/\*[\s\S]*?\*\/\n|^ *\/\/.*\n/gm, '');
      for (const [from, to = ''] of cuts) {
        const before = lean;
        lean = lean.replace(from, to);
        if (lean === before) this.error(`${path} has changed: there is no ${from} in it any more`);
      }
      for (const member of without)
        lean =
          withoutMember(lean, member) ??
          this.error(`${path} has changed: there is no ${member} in it any more`);
      return { code: lean, map: null };
    },
    // Its licence asks to be kept with it.
    generateBundle() {
      const source = readFileSync(license);
      this.emitFile({ type: 'asset', fileName: 'lit.LICENSE.txt', source });
    },
    buildEnd(error) {
      if (error) return;
      const missed = Object.keys(CUTS).filter((path) => !done.has(path));
      if (missed.length > 0) this.error(`Lit has changed: ${missed.join(', ')} was not loaded`);
    },
  };
}

/** A method or getter, left out with its body, of every class that has it. */
function withoutMember(code: string, signature: string): string | undefined {
  const [first = '', ...rest] = code.split(`\n    ${signature} {`);
  if (rest.length === 0) return undefined;
  return first + rest.map((text) => text.slice(text.indexOf('\n    }\n') + 6)).join('');
}
