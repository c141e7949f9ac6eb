const SOURCE = 'src/psa-checkout.ts';
const BUILT = 'dist/psa-checkout.js';

export default {
  globs: [SOURCE],
  outdir: '.',
  litelement: true,
  plugins: [
    {
      name: 'as-packed',
      // The package holds what was built; and what only the class itself sees is nobody else's business.
      packageLinkPhase({ customElementsManifest }) {
        for (const part of customElementsManifest.modules) {
          part.path = BUILT;
          for (const { declaration } of part.exports ?? []) declaration.module = BUILT;
          for (const declaration of part.declarations ?? [])
            declaration.members = declaration.members?.filter(
              ({ privacy = 'public', static: shared }) => privacy === 'public' && !shared,
            );
        }
        customElementsManifest.modules.push({
          kind: 'javascript-module',
          path: 'dist/define.js',
          exports: [
            {
              kind: 'custom-element-definition',
              name: 'psa-checkout',
              declaration: { name: 'PsaCheckout', module: BUILT },
            },
          ],
        });
      },
    },
  ],
};
