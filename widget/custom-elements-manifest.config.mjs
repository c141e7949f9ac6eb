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
  {
    name: 'psa-wallet',
    source: 'src/wallet/psa-wallet.ts',
    built: 'dist/psa-wallet.js',
    define: 'dist/define-wallet.js',
  },
  {
    name: 'psa-sales',
    source: 'src/sales/psa-sales.ts',
    built: 'dist/psa-sales.js',
    define: 'dist/define-sales.js',
  },
  {
    name: 'psa-statement',
    source: 'src/statement/psa-statement.ts',
    built: 'dist/psa-statement.js',
    define: 'dist/define-statement.js',
  },
  {
    name: 'psa-disputes',
    source: 'src/disputes/psa-disputes.ts',
    built: 'dist/psa-disputes.js',
    define: 'dist/define-disputes.js',
  },
];
/** The base classes of elements, whose members are the elements' own in the manifest. */
const BASES = ['src/board/board-element.ts', 'src/list/list-element.ts', 'src/list/totals-element.ts'];

export default {
  globs: [...ELEMENTS.map(({ source }) => source), ...BASES],
  outdir: '.',
  litelement: true,
  plugins: [
    {
      name: 'as-packed',
      // The manifest names the built modules of the package, and omits private and static members.
      packageLinkPhase({ customElementsManifest }) {
        const { modules } = customElementsManifest;
        customElementsManifest.modules = modules.filter(({ path }) => !BASES.includes(path));
        for (const element of modules.flatMap(({ declarations = [] }) => declarations))
          if (BASES.some((base) => element.superclass?.module?.endsWith(base))) {
            element.superclass = { name: 'LitElement', package: 'lit' };
            for (const { inheritedFrom: _, ...each } of element.members.splice(0)) element.members.push(each);
            for (const each of element.attributes) delete each.inheritedFrom;
          }
        for (const { name, source, built, define } of ELEMENTS) {
          const part = customElementsManifest.modules.find(({ path }) => path === source);
          part.path = built;
          for (const { declaration } of part.exports ?? []) declaration.module = built;
          for (const declaration of part.declarations ?? []) {
            // The analyzer knows the attributes of properties that are written out alone.
            for (const attribute of declaration.attributes ?? []) {
              const property = attribute.name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
              const field = declaration.members?.find(({ name: member }) => member === property);
              if (field) Object.assign(field, { attribute: attribute.name });
              if (field) attribute.fieldName = property;
            }
            declaration.members = declaration.members?.filter(
              ({ name: member, privacy = 'public', static: shared }) =>
                // Methods of every element, whose types alone are declared.
                privacy === 'public' && !shared && !member.endsWith('EventListener'),
            );
          }
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
