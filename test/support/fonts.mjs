import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../server/scripts/progress.mjs';
import { readOrEmpty } from '../../server/scripts/stamp.mjs';

const FONTS = join(root, 'test', 'node_modules', 'dejavu-fonts-ttf', 'ttf');
/** The folder is removed with node_modules. */
const FOLDER = join(root, 'node_modules', '.psa', 'fonts');

/** The generic families of pages, and the font of each. */
const GENERIC = {
  'DejaVu Sans': ['sans', 'sans-serif', 'system-ui', 'ui-sans-serif', 'cursive', 'fantasy'],
  'DejaVu Sans Mono': ['mono', 'monospace', 'ui-monospace'],
  'DejaVu Serif': ['serif', 'ui-serif'],
};

/**
 * Writes a configuration of fontconfig that knows only the fonts of the tests: a text is then equally wide on every
 * machine. Chromium, Firefox and WebKit read it; systems without fontconfig do not.
 * @returns {{ FONTCONFIG_FILE: string }} variables for browsers
 */
export function prepareFonts() {
  const file = join(FOLDER, 'fonts.conf');
  mkdirSync(FOLDER, { recursive: true });
  const text = configuration();
  // A browser of another run may be reading the file.
  if (readOrEmpty(file).toString() !== text) writeFileSync(file, text);
  return { FONTCONFIG_FILE: file };
}

function configuration() {
  const aliases = Object.entries(GENERIC).flatMap(([font, families]) =>
    families.map(
      (family) =>
        `  <alias binding="same"><family>${family}</family><prefer><family>${font}</family></prefer></alias>`,
    ),
  );
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>${escapeXml(FONTS)}</dir>
  <cachedir>${escapeXml(join(FOLDER, 'cache'))}</cachedir>
${aliases.join('\n')}
  <match target="pattern">
    <edit name="family" mode="append_last"><string>DejaVu Sans</string></edit>
    <edit name="antialias" mode="assign"><bool>true</bool></edit>
    <edit name="hinting" mode="assign"><bool>true</bool></edit>
    <edit name="hintstyle" mode="assign"><const>hintslight</const></edit>
    <edit name="rgba" mode="assign"><const>none</const></edit>
  </match>
</fontconfig>
`;
}

/** @param {string} path */
function escapeXml(path) {
  return path.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
