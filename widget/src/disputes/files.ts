/** The most files of a dispute, and the most bytes of each. */
export const MAX_FILES = 3;
const MAX_BYTES = 5 * 1024 * 1024;
const MAX_NAME = 100;

/** The first bytes of a file of each type, in hex digits, and the endings of its name. */
const TYPES: Record<string, readonly [start: string, ending: string, other?: string]> = {
  'application/pdf': ['25504446', '.pdf'],
  'image/png': ['89504e47', '.png'],
  'image/jpeg': ['ffd8ff', '.jpg', '.jpeg'],
};

/** The types of the files, as a control takes them. */
export const MEDIA_TYPES = Object.keys(TYPES).join();

/**
 * Reads a file that was chosen: with the type of its first bytes, for a system may know none or another one, and a name that
 * servers take; or the reason for which a dispute does not take it.
 */
export async function readFile(file: File): Promise<File | 'tooLarge' | 'wrongType'> {
  if (file.size > MAX_BYTES) return 'tooLarge';
  // A file that was moved since it was chosen cannot be read.
  const digits = await file
    .slice(0, 4)
    .arrayBuffer()
    .then(hexOf, () => '');
  for (const [type, [start, ...endings]] of Object.entries(TYPES))
    if (digits.startsWith(start))
      return new File([file], nameOf(file.name, endings), { type, lastModified: file.lastModified });
  return 'wrongType';
}

/** The SHA-256 of a file in hex digits; empty on a page that has no https. */
export async function sha256Of(file: File): Promise<string> {
  if (!crypto.subtle) return '';
  return hexOf(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
}

function hexOf(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The name without the signs that mean something to a file system or a page, with one of the endings. */
function nameOf(name: string, endings: readonly (string | undefined)[]): string {
  const plain = name
    .normalize()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[/\\:*?"<>|]/g, '-');
  const [, stem, ending = ''] = /^[.\s]*(.*?)(\.(?:pdf|png|jpe?g|jfif))?\s*$/i.exec(plain)!;
  const last = endings.includes(ending.toLowerCase()) ? ending : endings[0]!;
  return [...(stem || '1')].slice(0, MAX_NAME - last.length).join('') + last;
}
