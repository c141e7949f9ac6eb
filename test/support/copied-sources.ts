import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Copies folders of the repository into an empty one, where the packages of the workspace have their dependencies. The caller removes the copy. */
export function copySources(packages: readonly string[], folders: readonly string[]) {
  const path = mkdtempSync(join(tmpdir(), 'psa-sources-'));
  for (const folder of ['', ...packages]) {
    mkdirSync(join(path, folder), { recursive: true });
    copyFileSync(join(root, folder, 'package.json'), join(path, folder, 'package.json'));
    symlinkSync(join(root, folder, 'node_modules'), join(path, folder, 'node_modules'));
  }
  for (const folder of folders) cpSync(join(root, folder), join(path, folder), { recursive: true });
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Replaces a text in a file. @throws if the text is missing or there twice: the change has to follow the code */
export function replaceOnce(path: string, from: string, to: string): void {
  const parts = readFileSync(path, 'utf8').split(from);
  if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} times: ${from}`);
  writeFileSync(path, parts.join(to));
}
