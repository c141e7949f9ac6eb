import { readFileSync } from 'node:fs';
import { hashOf } from './persisted-documents.ts';
import { WIDGET_DOCUMENTS } from './widget-documents.ts';

/** A manifest that cannot be used, which the operator corrects. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/**
 * Reads the manifests of trusted documents, and adds the widget's own. A manifest is Apollo's, or an object of the documents
 * by their identifiers, as Relay and GraphQL Code Generator write it.
 * @throws ManifestError
 */
export function readTrustedDocuments(paths: readonly string[]): ReadonlyMap<string, string> {
  const trusted = new Map(WIDGET_DOCUMENTS.map((document) => [hashOf(document), document]));
  for (const path of paths)
    for (const [id, document] of readManifest(path)) {
      if ((trusted.get(id) ?? document) !== document)
        throw new ManifestError(`PSA_TRUSTED_DOCUMENTS: ${path} has another document for ${id}`);
      trusted.set(id, document);
    }
  return trusted;
}

function readManifest(path: string): [id: string, document: string][] {
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ManifestError(
      `PSA_TRUSTED_DOCUMENTS: ${path} ${code === undefined ? 'is not JSON' : `cannot be read (${code})`}`,
    );
  }
  const entries = entriesOf(manifest);
  if (!entries)
    throw new ManifestError(
      `PSA_TRUSTED_DOCUMENTS: ${path} must be a manifest of Apollo, or an object of documents by their identifiers`,
    );
  return entries;
}

function entriesOf(manifest: unknown): [string, string][] | null {
  if (!isObject(manifest)) return null;
  if (manifest.format === undefined) return textsOnly(Object.entries(manifest));
  const { format, version, operations } = manifest;
  if (format !== 'apollo-persisted-query-manifest' || version !== 1 || !Array.isArray(operations))
    return null;
  return textsOnly(operations.map((each) => (isObject(each) ? [each.id, each.body] : [])));
}

function textsOnly(entries: unknown[][]): [string, string][] | null {
  const isText = (value: unknown) => typeof value === 'string' && value !== '';
  return entries.every(([id, document]) => isText(id) && isText(document))
    ? (entries as [string, string][]).map(([id, document]) => [id.replace(/^sha256:/, ''), document])
    : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
