import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeVariables } from '../../server/src/programs/config/variables.ts';
import { ScriptsFixture } from '../support/scripts-fixture.ts';

let fixture: ScriptsFixture;

beforeEach(() => {
  fixture = new ScriptsFixture();
  fixture.link('tsconfig.json');
  fixture.link('server/node_modules/esbuild');
  // Links would be resolved, and the licences would be searched beside the originals.
  fixture.write('server/node_modules/@graphql-yoga/render-graphiql/package.json', '{ "name": "graphiql" }');
  fixture.write('server/node_modules/@graphql-yoga/render-graphiql/index.js', 'exports.page = 1;');
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'])
    fixture.write(`server/node_modules/swagger-ui-dist/${name}`, '');
  fixture.link('server/src/programs/load.ts');
  fixture.write('server/package.json', '{ "type": "module" }');
  fixture.write('server/src/programs/bundle.ts', "export const serve = () => import('./main.ts');");
  fixture.write('server/src/programs/cli/main.ts', '');
  fixture.write('server/src/state/db/pglite-worker.ts', '');
  fixture.write(
    'server/src/programs/main.ts',
    "import { word } from '../state/db/word.ts';\nconsole.log(word satisfies string);",
  );
  fixture.write('server/src/state/db/word.ts', "export const word = 'started';");
  fixture.write('server/src/state/db/migrations/0001_first.sql', 'select 1');
  fixture.write('widget/package.json', '{}');
  fixture.write('widget/src/widget.ts', '');
});

afterEach(() => fixture[Symbol.dispose]());

/** Runs a build. Returns the names of the built parts. */
async function build(): Promise<string[]> {
  const { output } = await fixture.script('server/scripts/build.mjs');
  return [...output.matchAll(/^✓ (.+) built in /gm)].map(([, part]) => part!).sort();
}

const ALL = ['database template', 'server', 'widget', 'widget package'];

it('A build builds the parts whose sources have changed, and no other', async () => {
  expect(await build()).toEqual(ALL);
  expect(await build()).toEqual([]);

  fixture.write('widget/src/widget.ts', 'export const a = 1;');
  expect(await build()).toEqual(['widget', 'widget package']);

  fixture.write('server/src/state/db/migrations/0001_first.sql', 'select 2');
  fixture.remove('widget/dist/demo');
  expect(await build()).toEqual(['server', 'widget']);
  expect(readFileSync(join(fixture.folder, 'server/dist/state/db/migrations/0001_first.sql'), 'utf8')).toBe(
    'select 2',
  );
});

it('A build removes the files of sources that are gone, and keeps the database template', async () => {
  await build();
  fixture.write('server/dist/pgdata.tar.gz', 'prepared');
  fixture.write('server/src/programs/main.ts', "console.log('alone');");
  fixture.remove('server/src/state/db/migrations');

  await build();

  const has = (file: string) => existsSync(join(fixture.folder, 'server/dist', file));
  expect(['main.js', 'pgdata.tar.gz', 'db/migrations/0001_first.sql'].map(has)).toEqual([true, true, false]);
});

it('A build names the place in a source that does not compile, and fails again the next time', async () => {
  fixture.write('server/src/programs/main.ts', 'const = 1;');

  const { code, output, stderr } = await fixture.script('server/scripts/build.mjs');

  expect(code).toBe(1);
  expect(output).toContain('server/src/programs/main.ts:1:6:');
  expect(stderr.trimEnd().split('\n').at(-1)).toBe('✗ server could not be built.');
  expect(await build()).toEqual([]);
  expect((await fixture.script('server/scripts/build.mjs')).code).toBe(1);
});

it('A build prepares the database template once for each version of PGlite', async () => {
  const pglite = (version: string) => {
    fixture.write('server/node_modules/@electric-sql/pglite/package.json', JSON.stringify({ version }));
    fixture.write('server/node_modules/@electric-sql/pglite/index.js', '');
  };
  pglite('0.5.16');

  expect(await build()).toEqual(ALL);
  expect(await build()).toEqual([]);
  pglite('0.5.17');
  expect(await build()).toEqual(['database template']);
});

it('npm start starts the server that it has built, and ends when the server does', async () => {
  const { code, output } = await fixture.script('server/scripts/start.mjs');

  expect(output).toMatch(/✓ widget built in .*\nstarted\n$/s);
  expect(output).not.toContain('package');
  expect(code).toBe(0);
});

it('npm start stops the server when npm ends, whose shell does not pass signals on', async () => {
  fixture.write(
    'server/src/programs/main.ts',
    `import { writeFileSync } from 'node:fs';
     const alive = setInterval(() => {}, 1000);
     process.on('SIGTERM', () => { writeFileSync('stopped', ''); clearInterval(alive); });
     console.log('listening');`,
  );
  // The server holds the other end of standard error: the run ends with the server.
  fixture.write(
    'npm.cjs',
    `const { spawn } = require('node:child_process');
     const options = { cwd: __dirname, stdio: ['ignore', 'pipe', 'inherit'] };
     const server = spawn(process.execPath, [__dirname + '/server/scripts/start.mjs'], options);
     server.stdout.on('data', (chunk) => String(chunk).includes('listening') && process.exit());`,
  );

  await fixture.script('npm.cjs', [], { npm_lifecycle_event: 'start' });

  expect(existsSync(join(fixture.folder, 'stopped'))).toBe(true);
});

it('npm start -- --help lists every environment variable before anything is installed', async () => {
  const { code, output } = await fixture.script('server/scripts/start.mjs', ['--help']);

  expect(code).toBe(0);
  for (const { name } of describeVariables()) {
    expect(output).toMatch(new RegExp(`\n  ${name}\\s`));
  }
});

it.each([['--upstream', 'https://api.example'], ['--upstream=https://api.example']])(
  'npm start -- %s %s starts in front of a service',
  async (...args) => {
    fixture.write('server/src/programs/main.ts', "console.log('in front of', process.env.PSA_UPSTREAM_URL);");

    const { code, output } = await fixture.script('server/scripts/start.mjs', args, {
      PSA_UPSTREAM_URL: 'https://other.example',
    });

    expect(output).toMatch(/\nin front of https:\/\/api\.example\n$/);
    expect(code).toBe(0);
  },
);

it.each([
  [['--upstream'], '--upstream needs the address of the service'],
  [['--upstream='], '--upstream needs the address of the service'],
  [['--upstream', '--demo'], '--upstream needs the address of the service'],
  [['--upstream', 'https://api.example', 'x'], 'Unknown argument x'],
  [['--port', '80'], 'Unknown argument --port'],
])('npm start refuses %j in one line, before anything is installed', async (args, says) => {
  const { code, output } = await fixture.script('server/scripts/start.mjs', args);

  expect(output).toMatch(new RegExp(`^✗ ${says}[^\n]*\n$`));
  expect(code).toBe(1);
});
