/** The source, the built module and the registering module of each element. */
const ELEMENTS = [
  {
    name: 'psa-checkout',
    source: 'src/psa-checkout.ts',
    built: 'dist/psa-checkout.js',
    define: 'dist/define.js',
  },
  {
    name: 'psa-payouts',
    source: 'src/payouts/psa-payouts.ts',
    built: 'dist/psa-payouts.js',
    define: 'dist/define-payouts.js',
  },
];
/** The base class of an element, whose members are its own in the manifest. */
const BASE = 'src/payouts/payouts-properties.ts';

export default {
  globs: [...ELEMENTS.map(({ source }) => source), BASE],
  outdir: '.',
  litelement: true,
  plugins: [
    {
      name: 'as-packed',
      // The manifest names the built modules of the package, and omits private and static members.
      packageLinkPhase({ customElementsManifest }) {
        const { modules } = customElementsManifest;
        customElementsManifest.modules = modules.filter(({ path }) => path !== BASE);
        for (const element of modules.flatMap(({ declarations = [] }) => declarations))
          if (element.superclass?.module?.endsWith(BASE)) {
            element.superclass = { name: 'LitElement', package: 'lit' };
            for (const { inheritedFrom: _, ...each } of element.members.splice(0)) element.members.push(each);
            for (const each of element.attributes) delete each.inheritedFrom;
          }
        for (const { name, source, built, define } of ELEMENTS) {
          const part = customElementsManifest.modules.find(({ path }) => path === source);
          part.path = built;
          for (const { declaration } of part.exports ?? []) declaration.module = built;
          for (const declaration of part.declarations ?? [])
            declaration.members = declaration.members?.filter(
              ({ name: member, privacy = 'public', static: shared }) =>
                // Methods of every element, whose types alone are declared.
                privacy === 'public' && !shared && !member.endsWith('EventListener'),
            );
          const { name: type } = part.declarations.find(({ customElement }) => customElement);
          customElementsManifest.modules.push({
            kind: 'javascript-module',
            path: define,
            exports: [
              { kind: 'custom-element-definition', name, declaration: { name: type, module: built } },
            ],
          });
        }
      },
    },
  ],
};
