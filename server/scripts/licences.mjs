import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './progress.mjs';

/**
 * Collects the licences of the packages that are part of bundles, which have to be copied with them.
 *
 * @param {import('esbuild').BuildResult[]} builds with metafiles
 * @returns {string} a section for each package
 */
export function licencesOf(builds) {
  const inputs = builds.flatMap(({ metafile }) =>
    Object.values(metafile?.outputs ?? {}).flatMap((output) =>
      Object.entries(output.inputs)
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .map(([file]) => file),
    ),
  );
  const folders = new Set(
    inputs.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? []),
  );
  const sections = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    return `${name} ${version}, ${license}\n\n${licenceIn(folder)}`;
  });
  return [...new Set(sections)].sort().join(`\n\n${'─'.repeat(80)}\n\n`);
}

/** The text of a package's licence, and of its notice; some packages name their licence alone. @param {string} folder */
function licenceIn(folder) {
  return readdirSync(join(root, folder))
    .filter((file) => /^(?:licen[cs]e|copying|notice)\b/i.test(file))
    .sort()
    .map((file) => readFileSync(join(root, folder, file), 'utf8').trim())
    .join('\n\n');
}
