import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TEXTS } from '../../server/src/api/checkout-page/language.ts';
import { BoardTexts } from '../../widget/src/board/board-texts.ts';
import { texts as englishDisputes } from '../../widget/src/disputes/locales/en.ts';
import { texts as spanishDisputes } from '../../widget/src/disputes/locales/es.ts';
import { texts as portugueseDisputeDetails } from '../../widget/src/disputes/locales/pt-BR.details.ts';
import { texts as portugueseDisputeFilters } from '../../widget/src/disputes/locales/pt-BR.filters.ts';
import { texts as portugueseDisputes } from '../../widget/src/disputes/locales/pt-BR.ts';
import * as english from '../../widget/src/locales/en.ts';
import * as spanish from '../../widget/src/locales/es.ts';
import { texts as delivered } from '../../widget/src/locales/pt-BR.delivered.ts';
import { first } from '../../widget/src/locales/pt-BR.first.ts';
import { texts as pix } from '../../widget/src/locales/pt-BR.pix.ts';
import { texts as portuguese } from '../../widget/src/locales/pt-BR.ts';
import { texts as englishPayouts } from '../../widget/src/payouts/locales/en.ts';
import { texts as spanishPayouts } from '../../widget/src/payouts/locales/es.ts';
import { texts as portuguesePayoutDetails } from '../../widget/src/payouts/locales/pt-BR.details.ts';
import { texts as portugueseFilters } from '../../widget/src/payouts/locales/pt-BR.filters.ts';
import { texts as portuguesePayouts } from '../../widget/src/payouts/locales/pt-BR.ts';
import { texts as englishSales } from '../../widget/src/sales/locales/en.ts';
import { texts as spanishSales } from '../../widget/src/sales/locales/es.ts';
import { texts as portugueseSaleDetails } from '../../widget/src/sales/locales/pt-BR.details.ts';
import { texts as portugueseSaleFilters } from '../../widget/src/sales/locales/pt-BR.filters.ts';
import { texts as portugueseSales } from '../../widget/src/sales/locales/pt-BR.ts';
import { texts as englishStatement } from '../../widget/src/statement/locales/en.ts';
import { texts as spanishStatement } from '../../widget/src/statement/locales/es.ts';
import { texts as portugueseStatementDetails } from '../../widget/src/statement/locales/pt-BR.details.ts';
import { texts as portugueseStatementFilters } from '../../widget/src/statement/locales/pt-BR.filters.ts';
import { texts as portugueseStatement } from '../../widget/src/statement/locales/pt-BR.ts';
import type { Texts } from '../../widget/src/statement/locales/texts.ts';
import type { WalletEntry } from '../../widget/src/statement/operations.ts';
import { statement } from '../../widget/src/statement/statement-kind.ts';
import { texts as englishWallet } from '../../widget/src/wallet/locales/en.ts';
import { texts as spanishWallet } from '../../widget/src/wallet/locales/es.ts';
import { texts as portugueseWallet } from '../../widget/src/wallet/locales/pt-BR.ts';

// The words that payers and merchants read.

const READ = {
  'pt-BR': {
    ...{ first, portuguese, pix, delivered },
    ...{ portuguesePayouts, portugueseFilters, portuguesePayoutDetails },
    ...{ portugueseSales, portugueseSaleFilters, portugueseSaleDetails },
    ...{ portugueseDisputes, portugueseDisputeDetails, portugueseDisputeFilters },
    ...{ portugueseStatement, portugueseStatementFilters, portugueseStatementDetails },
    ...{ portugueseWallet, pages: TEXTS['pt-BR'] },
  },
  en: {
    ...{ ...english, englishPayouts, englishSales, englishStatement, englishDisputes, englishWallet },
    pages: TEXTS.en,
  },
  es: {
    ...{ ...spanish, spanishPayouts, spanishSales, spanishStatement, spanishDisputes, spanishWallet },
    pages: TEXTS.es,
  },
};

/** All texts below a value, with their paths; for a template its literal parts. */
function textsIn(value: unknown, path = ''): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return [[path, (String(value).match(/(['"`]).*?\1/gs) ?? []).join(' ')]];
  return Object.entries(value as object).flatMap(([name, member]) => textsIn(member, `${path}.${name}`));
}

const finding = (texts: unknown, words: RegExp) => textsIn(texts).filter(([, text]) => words.test(text));

describe.each(Object.entries(READ))('the texts in %s', (_, texts) => {
  it('No text for payers or merchants has the word of a developer', () => {
    expect(
      finding(texts, /\b(servidor|server|graphql|token|api|endpoint|callback|webhook|json|http|mutation)\b/i),
    ).toEqual([]);
  });
});

it('A Portuguese text calls a refund estorno, an interval mensal and a status status', () => {
  const refunds = textsIn(READ['pt-BR']).filter(([path]) => /refund/i.test(path));
  expect(refunds.length).toBeGreaterThan(10);
  expect(refunds.filter(([, text]) => /devol/i.test(text))).toEqual([]);
  expect(finding(READ['pt-BR'], /por mês|por ano|\bestado\b|situação|\benvio\b/i)).toEqual([]);
  expect(finding(READ.es, /\benvío\b|pago por/i)).toEqual([]);
});

it('the reasons that the service itself gives for a denial are those that the element has in each language', () => {
  const { notReceived, bankRefused, destinationBlocked } = portuguesePayouts;
  const server = (file: string) => readFileSync(new URL(`../../server/src/${file}`, import.meta.url), 'utf8');
  const written = [
    ...server('money-out/payouts/upstream-payout.ts').matchAll(/deniedReason: '(.+)'/g),
    ...server('rails/simulated/bank.ts').matchAll(/reason: '(.+)'/g),
  ].map(([, reason]) => reason);
  expect(new Set(written)).toEqual(new Set([notReceived, bankRefused, destinationBlocked]));
});

it('A kind of a newer server reads as another one, unless the page has a text for it', () => {
  const texts = new BoardTexts<Texts>({ name: 'statement', portuguese: portugueseStatement, languages: {} });
  const entry = { kind: 'LATER' as string, amountCents: 1 } as WalletEntry;
  texts.use('pt-BR', undefined, () => undefined);
  expect(statement.spoken(entry, texts).kind).toBe('Outro');
  texts.use('pt-BR', { LATER: 'Cashback' } as Partial<Texts>, () => undefined);
  expect(statement.spoken(entry, texts).kind).toBe('Cashback');
});

it.each(['console', 'demo/simulator'])(
  'The pages of %s name no command, no field and no mutation',
  (pages) => {
    const folder = fileURLToPath(new URL(`../../widget/${pages}/`, import.meta.url));
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      // The page of developers is for those who know such words.
      (file) => file.includes('.') && file !== 'endpoints.ts',
    );
    const found = files.filter((file) =>
      /npm run|store import|callbackUrl|mutação|pelo servidor|com create/.test(
        readFileSync(`${folder}${file}`, 'utf8'),
      ),
    );
    expect(found).toEqual([]);
  },
);

it.each(Object.entries(READ))(
  'A code that is out of stock is promised alike on the pages and in the element, %s',
  (_, texts) => {
    expect(texts.delivered.deliveredPending).toBe(texts.pages.delivered.pending);
  },
);
