import { afterEach, expect, test, vi } from 'vitest';
import { BoardTexts } from '../../widget/src/board/board-texts.ts';
import { Announcer } from '../../widget/src/list/announcer.ts';
import { texts as portuguese } from '../../widget/src/payouts/locales/pt-BR.ts';
import type { Texts } from '../../widget/src/payouts/locales/texts.ts';
import type { Payout } from '../../widget/src/payouts/operations.ts';
import { payouts } from '../../widget/src/payouts/payouts-kind.ts';

afterEach(() => vi.useRealTimers());

test('A payout that is new and changes within the same second is announced as new, in its last status', () => {
  vi.useFakeTimers();
  const texts = new BoardTexts<Texts>({ name: 'payouts', portuguese, languages: {} });
  texts.use('pt-BR', undefined, () => undefined);
  const announcer = new Announcer(texts, payouts, () => undefined);
  const payout = { id: '1', amountCents: 4990, status: 'PENDING' } as Payout;
  announcer.addChange('new', payout);
  announcer.addChange('changed', { ...payout, status: 'COMPLETED' });
  vi.advanceTimersByTime(1_000);
  expect(announcer.sentence).toMatch(/^Novo saque de R\$\s49,90: concluído\.$/);
});
