// Destinations to try a payout with, and what the simulated bank does with each.
import type { PayoutMethod } from './operations.ts';

export type Metodo = Exclude<PayoutMethod, 'UNKNOWN'>;

interface Destino {
  destination: string;
  /** What it is called on its button. */
  nome: string;
  efeito: string;
}

const PIX: Destino[] = [
  { destination: 'ana@psa.example', nome: 'ana@psa.example', efeito: 'conclui em segundos' },
  { destination: 'nega@psa.example', nome: 'nega@psa.example', efeito: 'o banco nega' },
  { destination: 'recusa@psa.example', nome: 'recusa@psa.example', efeito: 'recusado antes do banco' },
  { destination: 'verifica@psa.example', nome: 'verifica@psa.example', efeito: 'fica 30 s em verificação' },
  { destination: 'demora@psa.example', nome: 'demora@psa.example', efeito: 'leva 10 minutos' },
];

export const DESTINOS: Record<Metodo, Destino[]> = {
  PIX,
  PIX_TURBO: PIX,
  LTC: [
    {
      destination: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
      nome: 'ltc1qw5…n4n9',
      efeito: 'conclui em segundos',
    },
    { destination: 'ltc1qt6cs9wr2kmrvmchxmdxngrnzj9a6fvawwtxyh3', nome: 'ltc1qt6…xyh3', efeito: 'é negado' },
    {
      destination: 'ltc1q6vpftd5at0tucj4ruq4ppku9jfkk2ckeh2gjea',
      nome: 'ltc1q6v…gjea',
      efeito: 'leva 10 minutos',
    },
  ],
  USDT: [
    { destination: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', nome: 'TR7NHq…Lj6t', efeito: 'conclui em segundos' },
    { destination: 'TJbta1F5Qigik4ZrFsoGXmRPgkudGtsPaL', nome: 'TJbta1…sPaL', efeito: 'é negado' },
    { destination: 'TVCvg8adLK6hGQH5WMw2vu4DFvbKkZeDpg', nome: 'TVCvg8…eDpg', efeito: 'leva 10 minutos' },
  ],
};
