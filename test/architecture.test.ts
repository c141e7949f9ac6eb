import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { LAYERS, roomOf, SHARED, WINGS, whyNot } from '../server/architecture.mjs';
import { importsOfServer } from '../server/scripts/imports.mjs';

const sources = fileURLToPath(new URL('../server/src/', import.meta.url));
const imports = importsOfServer();
const files = [...new Set(imports.flat())];

describe('the wings', () => {
  test('Every import of the server is one that its file may have', () => {
    const forbidden = imports.flatMap(([file, imported]) => {
      const reason = whyNot(file, imported);
      return reason === null ? [] : [`${file} imports ${imported}: ${reason}`];
    });
    expect(forbidden).toEqual([]);
    expect(imports.length).toBeGreaterThan(3_000);
  });

  test('The folders of the sources and of the tests are the wings, and theirs the rooms', () => {
    expect(foldersOf('.').sort()).toEqual(Object.keys(WINGS).sort());
    for (const [wing, rooms] of Object.entries(WINGS).filter(([, rooms]) => rooms.length > 0)) {
      expect(foldersOf(wing).sort()).toEqual(rooms.filter((room) => room !== '.').sort());
      expect(rooms).toEqual(expect.arrayContaining(foldersOf(`../../test/${wing}`)));
    }
    expect(Object.keys(WINGS).length).toBeLessThanOrEqual(12);
  });

  test('Rooms import one another in one direction', () => {
    const pairs = new Set(imports.map((pair) => pair.map(roomOf).join(' → ')));
    const both = [...pairs].filter((pair) => {
      const [from, to] = pair.split(' → ');
      return from !== to && pairs.has(`${to} → ${from}`);
    });
    expect(both).toEqual([]);
  });

  test('Each layer has files, and each shared room is one', () => {
    for (const { name, files: pattern } of LAYERS)
      expect(
        files.some((file) => pattern.test(file.slice(roomOf(file).length + 1))),
        name,
      ).toBe(true);
    expect(files.map(roomOf)).toEqual(expect.arrayContaining(SHARED));
  });

  test.each([
    ['kernel/money.ts', 'money-out/payouts/model.ts'],
    ['state/db/database.ts', 'state/commit/commit.ts'],
    ['state/events/event.ts', 'money-out/payouts/model.ts'],
    ['rails/bank.ts', 'upstream/upstream.ts'],
    ['api/graphql/builder.ts', 'api/operations/yoga.ts'],
    ['api/graphql/context.ts', 'money-in/payments/model.ts'],
    ['api/http/rest.ts', 'access/model.ts'],
    ['money-out/payouts/model.ts', 'money-in/payments/model.ts'],
    ['money-in/payments/model.ts', 'catalogue/products/model.ts'],
    ['money-out/payouts/model.ts', 'money-out/payouts/store.ts'],
    ['money-out/payouts/destinations.ts', 'state/db/database.ts'],
    ['money-out/payouts/service.ts', 'money-out/wallet/service.ts'],
    ['money-out/payouts/service.ts', 'money-out/payouts/remote/service.ts'],
    ['money-out/payouts/store.ts', 'money-out/wallet/store.ts'],
    ['money-out/payouts/store.ts', 'state/commit/commit.ts'],
    ['money-out/payouts/schema.ts', 'money-out/payouts/service.ts'],
    ['money-out/payouts/schema.ts', 'api/operations/yoga.ts'],
    ['money-out/payouts/remote/service.ts', 'rails/bank.ts'],
    ['money-in/refunds/store.ts', 'money-in/charges/store.ts'],
    ['programs/config/config.ts', 'programs/modes/embedded.ts'],
    ['programs/cli/main.ts', 'state/db/open.ts'],
    ['programs/app.ts', 'programs/cli/run.ts'],
  ])('%s may not import %s', (file, imported) => {
    expect(whyNot(file, imported)).toBeTypeOf('string');
  });
});

function foldersOf(path: string): string[] {
  return readdirSync(join(sources, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
