import { describe, expect, test } from 'vitest';
import { COLUMNS, deviates, type Resource, readResources } from '../server/scripts/names.ts';
import { DEVIATIONS, WORDS } from '../server/scripts/names-deviations.ts';
import { createOperations } from '../server/src/programs/modes/parts.ts';
import { schema } from '../server/src/programs/modes/schema.ts';
import { EVENTS } from '../server/src/webhooks/sent-events.ts';

// The table of names in server/docs/names.md: each cell is as its rule expects it, or has a reason.

// Describing the operations calls no service.
const routes = createOperations({ publicUrl: '' } as Parameters<typeof createOperations>[0]);
const resources = readResources({ schema, routes, events: Object.keys(EVENTS) }, WORDS);
const deviating = (of: readonly Resource[]) =>
  of.flatMap(({ type, cells }) =>
    COLUMNS.filter((column) => deviates(column, cells[column])).map((column) => `${type}.${column}`),
  );

describe('the table of names', () => {
  test('Each name that deviates has one reason, and each reason a name that deviates', () => {
    expect(resources.length).toBeGreaterThan(15);
    expect(DEVIATIONS.flatMap(({ cells }) => cells).sort()).toEqual(deviating(resources).sort());
    expect(DEVIATIONS.filter(({ reason, cells }) => reason === '' || cells.length === 0)).toEqual([]);
  });

  test('A route or event of another word is one that exists', () => {
    const paths = routes.map(({ path }) => path);
    for (const [type, { path, event }] of Object.entries(WORDS)) {
      expect(resources.map((resource) => resource.type)).toContain(type);
      if (path !== undefined) expect(paths).toContain(path);
      if (event !== undefined)
        expect(
          Object.keys(EVENTS).some((name) => name.startsWith(event)),
          event,
        ).toBe(true);
    }
  });

  test('A member in cents of one name is an amount, a fee or a part of one, never two of them', () => {
    const named = (type: string) => resources.find((resource) => resource.type === type)!.cells;
    expect([named('Payout').fee.shown, named('SubaccountPayout').fee.shown]).toEqual([
      'serviceFeeCents',
      'markupCents, serviceFeeCents',
    ]);
    for (const type of ['CardPayment', 'Charge', 'Payment'])
      expect([named(type).fee.shown, named(type).net.shown, named(type).amount.shown]).toEqual([
        'serviceFeeCents',
        'netAmountCents',
        'amountCents',
      ]);
  });
});
