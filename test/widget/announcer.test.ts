import { afterEach, expect, test, vi } from 'vitest';
import { Announcer } from '../../widget/src/payouts/announcer.ts';
import type { Payout } from '../../widget/src/payouts/operations.ts';
import { PayoutTexts } from '../../widget/src/payouts/payout-texts.ts';

afterEach(() => vi.useRealTimers());

test('A payout that is new and changes within the same second is announced as new, in its last status', () => {
  vi.useFakeTimers();
  const texts = new PayoutTexts();
  texts.use('pt-BR', undefined, () => undefined);
  const announcer = new Announcer(texts, () => undefined);
  const payout = { id: '1', amountCents: 4990, status: 'PENDING' } as Payout;
  announcer.addChange('new', payout);
  announcer.addChange('changed', { ...payout, status: 'COMPLETED' });
  vi.advanceTimersByTime(1_000);
  expect(announcer.sentence).toMatch(/^Novo saque de R\$\s49,90: concluído\.$/);
});
