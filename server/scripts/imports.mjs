import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root } from './progress.mjs';
import { filesUnder } from './stamp.mjs';

const SOURCES = 'server/src/';

/** Lists the imports of the server's sources, types too, as pairs of paths from server/src. @returns {[file: string, imported: string][]} */
export function importsOfServer() {
  return filesUnder('server/src')
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const path = file.slice(SOURCES.length);
      const imports = readFileSync(join(root, file), 'utf8').matchAll(IMPORT);
      return [...imports].map(
        ([, address = '']) =>
          /** @type {[string, string]} */ ([path, posix.join(posix.dirname(path), address)]),
      );
    });
}

const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g;
