import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ScriptsFixture } from '../support/scripts-fixture.ts';

let fixture: ScriptsFixture;

beforeEach(() => {
  fixture = new ScriptsFixture();
  fixture.write('widget/package.json', '{ "version": "0.2.0" }');
  fixture.write(
    'widget/scripts/build.mjs',
    `import { mkdirSync, writeFileSync } from 'node:fs';
    for (const folder of ['standalone', 'demo', 'console']) mkdirSync('widget/dist/' + folder, { recursive: true });
    for (const name of ['psa-checkout.js', 'psa-checkout.js.map']) writeFileSync('widget/dist/standalone/' + name, 'built');`,
  );
  fixture.write(
    'node_modules/tsx/dist/cli.mjs',
    `process.stdout.write('{ "of": "' + process.argv.at(-1) + '" }')`,
  );
});
afterEach(() => fixture[Symbol.dispose]());

const release = () => fixture.script('server/scripts/released-widgets.mjs');
const gate = () => fixture.script('server/scripts/check.mjs', ['released widgets']);
const read = (file: string) => readFileSync(join(fixture.folder, 'widget/released', file), 'utf8');

it('A release adds the built files of this version, without maps, their hashes and documents', async () => {
  expect(await release()).toMatchObject({ code: 0 });
  expect(readdirSync(join(fixture.folder, 'widget/released/0.2.0')).sort()).toEqual([
    'backend-documents.json',
    'documents.json',
    'psa-checkout.js',
  ]);
  expect(read('0.2.0/psa-checkout.js')).toBe('built');
  expect(read('0.2.0/documents.json')).toBe('{ "of": "--manifest" }');
  expect(read('0.2.0/backend-documents.json')).toBe('{ "of": "--backend-manifest" }');
  expect(Object.keys(JSON.parse(read('hashes.json'))['0.2.0'])).toEqual([
    'backend-documents.json',
    'documents.json',
    'psa-checkout.js',
  ]);
  expect(await gate()).toMatchObject({ code: 0 });

  fixture.write('widget/package.json', '{ "version": "0.3.0" }');
  expect(await release()).toMatchObject({ code: 0 });
  expect(Object.keys(JSON.parse(read('hashes.json')))).toEqual(['0.2.0', '0.3.0']);
  expect(await gate()).toMatchObject({ code: 0 });
});

it('A version that is released stays as it is', async () => {
  await release();
  const hashes = read('hashes.json');
  fixture.write('widget/dist/standalone/psa-checkout.js', 'another');
  expect(await release()).toMatchObject({ code: 0 });
  expect([read('0.2.0/psa-checkout.js'), read('hashes.json')]).toEqual(['built', hashes]);
});

it('The gate names a released file that was changed, added or removed', async () => {
  await release();
  fixture.write('widget/released/0.2.0/psa-checkout.js', 'another');
  fixture.write('widget/released/0.2.0/more.js', '');
  fixture.remove('widget/released/0.2.0/documents.json');
  const { code, output } = await gate();
  expect(code).toBe(1);
  for (const name of ['psa-checkout.js', 'more.js', 'documents.json'])
    expect(output).toContain(`widget/released/0.2.0/${name} is not the file that was released.`);

  fixture.remove('widget/released/0.2.0');
  expect(existsSync(join(fixture.folder, 'widget/released/0.2.0'))).toBe(false);
  expect(await gate()).toMatchObject({ code: 1 });
});
