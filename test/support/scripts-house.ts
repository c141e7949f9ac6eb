import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url));

interface Ended {
  code: number | null;
  /** Both streams as they came: of two lines that stand on different ones, either may be the first. */
  output: string;
  stdout: string;
  stderr: string;
}

/** A script that writes the files of its first argument. */
function writing(files: Record<string, string[]>): string {
  return `
    import { mkdirSync, writeFileSync } from 'node:fs';
    import { dirname } from 'node:path';
    for (const file of ${JSON.stringify(files)}[process.argv[2] ?? '']) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, '');
    }`;
}

/**
 * A copy of the scripts in a folder with a space in its name and without git, beside programs that only pretend: the PATH
 * holds nothing but what `program` puts there. The slow scripts, which start a server or a database, pretend as well, and
 * so does the widget's build.
 */
export class ScriptsHouse implements Disposable {
  readonly #top = mkdtempSync(join(tmpdir(), 'psa-scripts-'));
  readonly folder = join(this.#top, 'a house');

  constructor() {
    for (const kept of [
      'server/scripts',
      'test/run.mjs',
      'test/support/changes.mjs',
      'test/support/chromium.mjs',
      'test/support/secrets.mjs',
      'test/support/test-files.mjs',
    ]) {
      cpSync(join(repository, kept), join(this.folder, kept), { recursive: true });
    }
    this.write('server/scripts/warm.mjs', '');
    this.write('server/scripts/build-pgdata.mjs', writing({ '': ['server/dist/pgdata.tar.gz'] }));
    this.write(
      'widget/scripts/build.mjs',
      writing({
        pages: ['widget/dist/standalone/a.js', 'widget/dist/demo/a.js'],
        package: ['widget/dist/psa-checkout.js', 'widget/dist/types/a.d.ts', 'widget/custom-elements.json'],
      }),
    );
    this.write('package.json', '{ "type": "module", "packageManager": "pnpm@10.34.9" }');
    this.write('pnpm-lock.yaml', 'lockfileVersion: 9');
    mkdirSync(join(this.#top, 'bin'));
    this.program('npx', '');
  }

  write(file: string, content: string): void {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    writeFileSync(join(this.folder, file), content);
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }

  remove(file: string): void {
    rmSync(join(this.folder, file), { recursive: true });
  }

  /** The repository's own file or folder. */
  link(file: string): void {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    symlinkSync(join(repository, file), join(this.folder, file));
  }

  /** A command in the PATH, as CommonJS; `bin` is its folder. */
  program(name: string, code: string): void {
    const bin = join(this.#top, 'bin');
    const head = `#!${process.execPath}\nconst bin = ${JSON.stringify(bin)};\n`;
    writeFileSync(join(bin, name), `${head}${code}\n`, { mode: 0o755 });
  }

  /** The system's own command. */
  systemProgram(path: string): void {
    symlinkSync(path, join(this.#top, 'bin', path.replace(/.*\//, '')));
  }

  removeProgram(name: string): void {
    rmSync(join(this.#top, 'bin', name));
  }

  /** Runs Node in the house and resolves when all that it started has ended. */
  node(args: string[], env: Record<string, string> = {}): Promise<Ended> {
    return this.#run(process.execPath, args, env);
  }

  /** The same for a command in the PATH. */
  command(name: string, args: string[]): Promise<Ended> {
    return this.#run(join(this.#top, 'bin', name), args);
  }

  #run(command: string, args: string[], env: Record<string, string> = {}): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        cwd: tmpdir(),
        env: { PATH: join(this.#top, 'bin'), ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const said = { output: '', stdout: '', stderr: '' };
      for (const stream of ['stdout', 'stderr'] as const)
        child[stream].setEncoding('utf8').on('data', (text: string) => {
          said[stream] += text;
          said.output += text;
        });
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, ...said }));
    });
  }

  script(file: string, args: string[] = [], env: Record<string, string> = {}) {
    return this.node([join(this.folder, file), ...args], env);
  }

  [Symbol.dispose](): void {
    rmSync(this.#top, { recursive: true, force: true });
  }
}
