import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The repository's folder, with a trailing slash. */
export const repository = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block of a document. */
export interface CodeBlock {
  /** The number of the line of its opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

/** A Markdown file of the repository. */
export interface Document {
  /** The path relative to the repository. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly CodeBlock[];
  /** The text with fenced blocks replaced by empty lines. */
  readonly prose: string;
}

/** Folders that an install, a build or a run creates. */
const GENERATED = new Set(['node_modules', 'dist', 'coverage']);
/** Folders of the repository whose names begin with a dot. */
const HIDDEN = new Set(['.github', '.ci']);

/** Lists every file of the repository, relative to it, and every folder, with a trailing slash. */
export function readTree(folder = ''): string[] {
  return readdirSync(repository + folder, { withFileTypes: true }).flatMap((entry) => {
    const path = folder + entry.name;
    if (!entry.isDirectory()) return [path];
    if (GENERATED.has(entry.name) || (entry.name.startsWith('.') && !HIDDEN.has(entry.name))) return [];
    return [`${path}/`, ...readTree(`${path}/`)];
  });
}

/** Reads every Markdown file of the repository. */
export function readDocuments(): Document[] {
  return readTree()
    .filter((path) => path.endsWith('.md'))
    .map(readDocument);
}

function readDocument(path: string): Document {
  const text = readFileSync(repository + path, 'utf8');
  const blocks: CodeBlock[] = [];
  const prose = text.replace(FENCED, (block, _indent, _fence, language: string, code: string, at: number) => {
    blocks.push({ line: text.slice(0, at).split('\n').length, language, code });
    return '\n'.repeat(block.split('\n').length - 1);
  });
  return { path, text, blocks, prose };
}

const FENCED = /^([ \t]*)(`{3,}|~{3,})[ \t]*(\S*)[^\n]*\n([\s\S]*?)^[ \t]*\2[ \t]*$/gm;
