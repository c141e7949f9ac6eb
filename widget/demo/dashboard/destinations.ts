// Test destinations of payouts, and how the simulated bank treats each.
import type { PayableMethod } from '../shared/payout-methods.ts';

interface TestDestination {
  destination: string;
  /** The text of its button. */
  label: string;
  effect: string;
}

const PIX: TestDestination[] = [
  { destination: 'ana@psa.example', label: 'ana@psa.example', effect: 'conclui em segundos' },
  { destination: 'nega@psa.example', label: 'nega@psa.example', effect: 'o banco nega' },
  { destination: 'recusa@psa.example', label: 'recusa@psa.example', effect: 'recusado antes do banco' },
  { destination: 'verifica@psa.example', label: 'verifica@psa.example', effect: 'fica 30 s em verificação' },
  { destination: 'demora@psa.example', label: 'demora@psa.example', effect: 'leva 10 minutos' },
];

/** A method without any is offered all the same. */
export const TEST_DESTINATIONS: Partial<Record<PayableMethod, TestDestination[]>> = {
  PIX,
  PIX_TURBO: PIX,
  LTC: [
    {
      destination: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
      label: 'ltc1qw5…n4n9',
      effect: 'conclui em segundos',
    },
    { destination: 'ltc1qt6cs9wr2kmrvmchxmdxngrnzj9a6fvawwtxyh3', label: 'ltc1qt6…xyh3', effect: 'é negado' },
    {
      destination: 'ltc1q6vpftd5at0tucj4ruq4ppku9jfkk2ckeh2gjea',
      label: 'ltc1q6v…gjea',
      effect: 'leva 10 minutos',
    },
  ],
  USDT: [
    {
      destination: 'TSKvj5dE2xfkpwQU1z3A1PoNC69QmRVhxK',
      label: 'TSKvj5…VhxK',
      effect: 'conclui em segundos',
    },
    { destination: 'TJbta1F5Qigik4ZrFsoGXmRPgkudGtsPaL', label: 'TJbta1…sPaL', effect: 'é negado' },
    { destination: 'TVCvg8adLK6hGQH5WMw2vu4DFvbKkZeDpg', label: 'TVCvg8…eDpg', effect: 'leva 10 minutos' },
  ],
};
