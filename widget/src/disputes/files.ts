/** The most files of a dispute, and the most bytes of each. */
export const MAX_FILES = 3;
const MAX_BYTES = 5 * 1024 * 1024;

/** The first bytes of a file of each type, in hex digits. */
const STARTS: Record<string, string> = {
  'application/pdf': '25504446',
  'image/png': '89504e47',
  'image/jpeg': 'ffd8ff',
};

/** The types of the files, as a control takes them. */
export const MEDIA_TYPES = Object.keys(STARTS).join();

/** Finds the reason for which a dispute does not take a file: its size, or its type, by its first bytes, too. */
export async function problemOf(file: File): Promise<'tooLarge' | 'wrongType' | undefined> {
  if (file.size > MAX_BYTES) return 'tooLarge';
  const start = STARTS[file.type];
  // A file that was moved since it was chosen cannot be read.
  const bytes = await file
    .slice(0, 4)
    .arrayBuffer()
    .catch(() => new ArrayBuffer(0));
  const digits = [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return start && digits.startsWith(start) ? undefined : 'wrongType';
}
