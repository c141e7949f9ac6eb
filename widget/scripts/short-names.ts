import { type MinifyOptions, minify } from 'terser';
import type { Plugin } from 'vite';

/** Members that only classes here and their base in Lit know of. Of the rest of Lit's names a page may make use. */
const INNER =
  /^(_.+|createProperty|getPropertyDescriptor|getPropertyOptions|elementStyles|shadowRootOptions|addController|hostConnected|hostDisconnected|enableUpdating|createRenderRoot|isUpdatePending|hasUpdated|performUpdate|willUpdate|renderOptions|renderBefore)$/;

/** Gives members that nobody outside of the bundle names a short name, the same one in every chunk. */
export function shortNames(): Plugin {
  return {
    name: 'short-names',
    async generateBundle(_, bundle) {
      const options: MinifyOptions = {
        module: true,
        ecma: 2020,
        compress: { passes: 4 },
        mangle: { properties: { regex: INNER, reserved: ['__proto__', '__typename'] } },
        format: { comments: false },
        nameCache: {},
      };
      for (const file of Object.values(bundle))
        if (file.type === 'chunk') file.code = (await minify(file.code, options)).code ?? file.code;
    },
  };
}
