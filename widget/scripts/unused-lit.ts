import type { Plugin } from 'vite';

/**
 * The parts of Lit that the elements leave out: each text of its built files, and the one that stands in its place. The elements need constructed style
 * sheets anyway; their templates are HTML alone, without directives, with expressions in no tag, comment or text of a `<textarea>`, and
 * their attributes are texts, numbers and flags.
 */
const UNUSED: readonly (readonly [
  file: string,
  edits: readonly (readonly [from: string | RegExp, to: string])[],
])[] = [
  ['reactive-element/css-tag.js', [[/\w+\.ShadowRoot&&.*?"replace"in CSSStyleSheet\.prototype/, 'true']]],
  [
    'reactive-element/reactive-element.js',
    [
      ['Symbol.metadata??=Symbol("metadata"),a.litPropertyMetadata??=new WeakMap;', ''],
      [/const t=this\[Symbol\.metadata\];.*?this\.elementProperties\.set\(t,i\)\}/, ''],
      ['case Object:case Array:t=null==t?t:JSON.stringify(t)', ''],
      ['case Object:case Array:try{i=JSON.parse(t)}catch(t){i=null}', ''],
      ['static addInitializer(t){this._$Ei(),(this.l??=[]).push(t)}', ''],
      [',void 0!==t.l&&(this.l=[...t.l])', ''],
      [',this.constructor.l?.forEach(t=>t(this))', ''],
      [',p?.({ReactiveElement:y}),(a.reactiveElementVersions??=[]).push("2.1.2")', ''],
    ],
  ],
  [
    'lit-element/lit-element.js',
    [
      [/,s\.litElementHydrateSupport\?\..*?o\?\.\(\{LitElement:i\}\)/, ''],
      ['(s.litElementVersions??=[]).push("4.2.2");', ''],
    ],
  ],
  [
    'lit-html/lit-html.js',
    [
      [/function M\(t,i,s=t,e\)\{if.*?,i\}(?=class R)/, 'const M=(t,i)=>i;'],
      ['l=2===i?"<svg>":3===i?"<math>":""', 'l=""'],
      ['(2===i?"</svg>":3===i?"</math>":"")', '""'],
      [/if\((this\.el=\S{1,60}?),2===i\|\|3===i\)\{.*?\}(?=for)/, '$1;'],
      ['(y.test(u[2])&&(n=RegExp("</"+u[2],"g")),c=p)', '(c=p)'],
      [/if\(y\.test\(r\.tagName\)\)\{.*?\}\}(?=\}else if\(8===r\.nodeType\))/, ''],
      ['else t.startsWith(o)&&(d.push({type:6,index:l}),r.removeAttribute(t));', ''],
      [/else\{let t=-1;for\(.*?t\+=o\.length-1\}(?=l\+\+)/, ''],
      [
        '1===r.type?i=new r.ctor(h,r.name,r.strings,this,t):6===r.type&&(i=new Z(h,this,t))',
        'i=new r.ctor(h,r.name,r.strings,this,t)',
      ],
      ['B?.(S,k),(t.litHtmlVersions??=[]).push("3.3.3");', ''],
    ],
  ],
];

/** Removes what the elements do not use of Lit. Fails where another version of Lit is written in another way. */
export function removeUnusedLit(): Plugin {
  return {
    name: 'unused-lit',
    transform(code, id) {
      const [, edits] = UNUSED.find(([file]) => id.endsWith(file)) ?? [];
      if (!edits) return undefined;
      let left = code;
      for (const [from, to] of edits) {
        const before = left;
        left = left.replace(from, to);
        if (left === before)
          throw new Error(`${id} has no ${from}: its version of Lit writes it in another way`);
      }
      return { code: left, map: null };
    },
  };
}
