// The destinations of payouts that the simulated banks treat apart, and one of each kind that they do not, as the page documents them.

export const DESTINATIONS: { destination: string; effect: string }[] = [
  { destination: 'ana@psa.example', effect: 'Conclui em segundos.' },
  { destination: 'nega@psa.example', effect: 'O banco nega.' },
  { destination: 'recusa@psa.example', effect: 'É recusado antes do banco.' },
  { destination: 'verifica@psa.example', effect: 'Fica 30 s em verificação.' },
  { destination: 'demora@psa.example', effect: 'Leva 10 minutos.' },
  { destination: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', effect: 'Conclui em segundos.' },
  { destination: 'ltc1qt6cs9wr2kmrvmchxmdxngrnzj9a6fvawwtxyh3', effect: 'É negado.' },
  { destination: 'ltc1q6vpftd5at0tucj4ruq4ppku9jfkk2ckeh2gjea', effect: 'Leva 10 minutos.' },
  { destination: 'TSKvj5dE2xfkpwQU1z3A1PoNC69QmRVhxK', effect: 'Conclui em segundos.' },
  { destination: 'TJbta1F5Qigik4ZrFsoGXmRPgkudGtsPaL', effect: 'É negado.' },
  { destination: 'TVCvg8adLK6hGQH5WMw2vu4DFvbKkZeDpg', effect: 'Leva 10 minutos.' },
];
