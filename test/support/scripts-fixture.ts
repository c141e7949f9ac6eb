import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url));

interface Ended {
  code: number | null;
  /** Both streams in the order of arrival, which between the two is not certain. */
  output: string;
  stdout: string;
  stderr: string;
}

/** Returns the source of a script that writes the files listed for its first argument. */
function fileWriter(files: Record<string, string[]>): string {
  return `
    import { mkdirSync, writeFileSync } from 'node:fs';
    import { dirname } from 'node:path';
    for (const file of ${JSON.stringify(files)}[process.argv[2] ?? '']) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, '');
    }`;
}

/**
 * A copy of the scripts in a folder with a space in its name and without git. The PATH contains only the fake programs that
 * `program` adds. Fakes also replace the slow scripts, which start a server or a database, and the widget's build.
 */
export class ScriptsFixture implements Disposable {
  readonly #top = mkdtempSync(join(tmpdir(), 'psa-scripts-'));
  readonly folder = join(this.#top, 'a folder');
  /** The folder of the fake programs. */
  readonly bin = join(this.#top, 'bin');

  constructor() {
    for (const path of [
      'server/bin',
      'server/scripts',
      'widget/scripts/released.mjs',
      'test/run.mjs',
      'test/support/changes.mjs',
      'test/support/chromium.mjs',
      'test/support/debian.mjs',
      'test/support/engines.mjs',
      'test/support/fonts.mjs',
      'test/support/secrets.mjs',
      'test/support/test-files.mjs',
    ]) {
      cpSync(join(repository, path), join(this.folder, path), { recursive: true });
    }
    this.write('server/scripts/warm.mjs', '');
    this.write('server/scripts/build-pgdata.mjs', fileWriter({ '': ['server/dist/pgdata.tar.gz'] }));
    this.write(
      'widget/scripts/build.mjs',
      fileWriter({
        pages: ['widget/dist/standalone/a.js', 'widget/dist/demo/a.js', 'widget/dist/console/a.js'],
        package: ['widget/dist/psa-checkout.js', 'widget/dist/types/a.d.ts', 'widget/custom-elements.json'],
      }),
    );
    this.write('package.json', '{ "type": "module", "packageManager": "pnpm@10.34.9" }');
    this.write('pnpm-lock.yaml', 'lockfileVersion: 9');
    mkdirSync(this.bin);
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

  /** Links a file or folder of the repository. */
  link(file: string): void {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    symlinkSync(join(repository, file), join(this.folder, file));
  }

  /** Adds a command to the PATH. Its code is CommonJS, with the command's folder in `bin`. */
  program(name: string, code: string): void {
    const head = `#!${process.execPath}\nconst bin = ${JSON.stringify(this.bin)};\n`;
    writeFileSync(join(this.bin, name), `${head}${code}\n`, { mode: 0o755 });
  }

  /** Links a command of the system into the PATH. */
  systemProgram(path: string): void {
    symlinkSync(path, join(this.bin, path.replace(/.*\//, '')));
  }

  removeProgram(name: string): void {
    rmSync(join(this.bin, name));
  }

  /** Runs Node with the fake PATH, and resolves when all processes that it started have ended. */
  node(args: string[], env: Record<string, string> = {}): Promise<Ended> {
    return this.#run(process.execPath, args, env);
  }

  /** Runs a command of the PATH in the same way. */
  command(name: string, args: string[]): Promise<Ended> {
    return this.#run(join(this.bin, name), args);
  }

  #run(command: string, args: string[], env: Record<string, string> = {}): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        cwd: tmpdir(),
        env: { PATH: this.bin, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const streams = { output: '', stdout: '', stderr: '' };
      for (const stream of ['stdout', 'stderr'] as const)
        child[stream].setEncoding('utf8').on('data', (text: string) => {
          streams[stream] += text;
          streams.output += text;
        });
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, ...streams }));
    });
  }

  script(file: string, args: string[] = [], env: Record<string, string> = {}) {
    return this.node([join(this.folder, file), ...args], env);
  }

  [Symbol.dispose](): void {
    rmSync(this.#top, { recursive: true, force: true });
  }
}
