import { type MinifyOptions, minify } from 'terser';
import type { Plugin } from 'vite';

/**
 * Members that only the files of one bundle know of: of Lit's base class those of which no page makes use, and ours that
 * are neither the element's own interface nor what a server or an event says.
 */
const INNER =
  /^(_.+|createProperty|getPropertyDescriptor|getPropertyOptions|elementStyles|shadowRootOptions|addController|hostConnected|hostDisconnected|enableUpdating|createRenderRoot|isUpdatePending|hasUpdated|performUpdate|willUpdate|renderOptions|renderBefore|remainingSeconds|openingText|resuming|onLink|onPayment|onConnection|onOpen|onUpdate|onRetry|onReset)$/;

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
