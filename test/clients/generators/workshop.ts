import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { PeerName } from '../../bench/peers/install.ts';
import type { Project } from './projects.ts';

export const execute = promisify(execFile);

/** The strictest types. */
export const STRICTEST = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
};

const COMMON = {
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2023', 'dom', 'dom.iterable'],
  allowImportingTsExtensions: true,
  noEmit: true,
  resolveJsonModule: true,
  // The declarations of the libraries are not checked.
  skipLibCheck: true,
  types: [],
};

/**
 * A folder for the projects of code generators, which are installed as a peer.
 *
 * @param input the files that every project has, such as the schema
 */
export function createWorkshop(
  peer: PeerName,
  { input, compilerOptions }: { input: Record<string, string>; compilerOptions: object },
) {
  const modules = fileURLToPath(new URL(`../../bench/peers/${peer}/node_modules/`, import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), `psa-${peer}-`));
  return {
    folder,
    modules,

    /** Writes a project, generates its code, and returns its folder. */
    async generate(name: string, { run, files }: Project): Promise<string> {
      const project = join(folder, name.replaceAll(/\W/g, '-'));
      mkdirSync(project);
      symlinkSync(modules, join(project, 'node_modules'));
      const written = {
        ...input,
        'package.json': '{"type":"module"}',
        'tsconfig.base.json': JSON.stringify({ compilerOptions: { ...COMMON, ...compilerOptions } }),
        'tsconfig.json': '{"extends":"./tsconfig.base.json"}',
        ...files,
      };
      for (const [file, content] of Object.entries(written)) writeFileSync(join(project, file), content);
      if ('introspect.mjs' in files) await execute(process.execPath, ['introspect.mjs'], { cwd: project });
      for (const [program, ...args] of run)
        await execute(process.execPath, [join(modules, program), ...args], { cwd: project });
      return project;
    },

    /** Compiles a project, and returns the errors. */
    async compile(project: string, ...args: string[]): Promise<string> {
      const tsc = join(modules, 'typescript/bin/tsc');
      try {
        await execute(process.execPath, [tsc, '-p', 'tsconfig.json', ...args], { cwd: project });
        return '';
      } catch (error) {
        return (error as { stdout: string }).stdout;
      }
    },

    remove: () => rmSync(folder, { recursive: true }),
  };
}
