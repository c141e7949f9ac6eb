import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TEST_CARDS } from '../../server/src/rails/simulated/acquirer.ts';
import { MAGIC_DESTINATIONS } from '../../server/src/rails/simulated/bank.ts';
import { MAGIC_PAYERS } from '../../server/src/rails/simulated/pix.ts';
import { DESTINATIONS } from '../../widget/demo/simulator/destinations.ts';
import { PAYERS } from '../../widget/demo/simulator/payers.ts';

const lines = readFileSync(new URL('../../server/docs/guide.md', import.meta.url), 'utf8').split('\n');

/** The rows of the guide's table of test data with this first heading: the values, and their effects. */
function tableOf(heading: string): [values: string, effect: string][] {
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} `));
  expect(start, heading).toBeGreaterThan(-1);
  const rest = lines.slice(start + 2);
  const rows = rest.slice(
    0,
    rest.findIndex((line) => !line.startsWith('|')),
  );
  return rows.map((row) => {
    const [, values, effect] = row.split('|').map((cell) => cell.trim());
    return [values!, effect!];
  });
}

const quoted = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, value]) => value!);

test('The guide names the test cards that the simulated acquirer knows, each with its effect', () => {
  const named = tableOf('test card').flatMap(([cards, effect]) =>
    cards.split(', ').map((card) => [card.replaceAll(' ', ''), effect] as const),
  );
  expect(named.map(([card]) => card).sort()).toEqual(Object.keys(TEST_CARDS).sort());
  for (const [card, effect] of named) {
    const behaviour = TEST_CARDS[card]!;
    switch (behaviour.kind) {
      case 'approve':
        expect(effect, card).toBe(
          {
            later: 'approved; its refunds are completed after five seconds',
            fail: 'approved; its refunds are refused',
            none: 'approved',
          }[behaviour.refunds ?? 'none'],
        );
        break;
      case 'decline':
        expect(effect, card).toMatch(behaviour.final ? /^declined for good/ : /^declined; another card/);
        break;
      case 'settle_later':
        expect(effect, card).toMatch(
          behaviour.afterMs === 5_000
            ? /^approved after five seconds$/
            : new RegExp(`^approved after ${behaviour.afterMs / 60_000} minutes`),
        );
    }
  }
});

test('The guide names the destinations that the simulated bank treats apart, each with its effect', () => {
  const named = tableOf('destination of a payout').flatMap(([destinations, effect]) =>
    quoted(destinations).map((destination) => [destination, effect] as const),
  );
  expect(named.map(([destination]) => destination).sort()).toEqual(Object.keys(MAGIC_DESTINATIONS).sort());
  const effects = {
    deny: /^denied/,
    refuse: /^refused/,
    delay: /^waits ten minutes/,
    verify: /^held in verification for 30 s/,
  };
  for (const [destination, effect] of named)
    expect(effect, destination).toMatch(effects[MAGIC_DESTINATIONS[destination]!.kind]);
});

test('The simulator’s page names a destination with each effect, and the effect that the bank gives it', () => {
  const effects = {
    none: /^Conclui em segundos\.$/,
    deny: /^(O banco nega|É negado)\.$/,
    refuse: /^É recusado antes do banco\.$/,
    delay: /^Leva 10 minutos\.$/,
    verify: /^Fica 30 s em verificação\.$/,
  };
  const kindOf = (destination: string) => MAGIC_DESTINATIONS[destination]?.kind ?? 'none';
  for (const { destination, effect } of DESTINATIONS)
    expect(effect, destination).toMatch(effects[kindOf(destination)]);
  expect(new Set(DESTINATIONS.map(({ destination }) => kindOf(destination)))).toEqual(
    new Set(Object.keys(effects)),
  );
});

test('The guide and the simulator’s page name the payers that do something by themselves', () => {
  const known = Object.keys(MAGIC_PAYERS);
  const named = tableOf('`email` of the customer of a PIX payment').flatMap(([payers]) => quoted(payers));
  expect(named).toEqual(known);
  expect(PAYERS.map(({ email }) => email)).toEqual(known);
});
