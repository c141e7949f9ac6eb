// The words of the dashboard for what the server names by a code, or in English. The reasons of banks are shown as they are.

const FAILURES: Readonly<Record<string, string>> = {
  canceled: 'pago depois de cancelado, e devolvido',
  paid_elsewhere: 'o pedido foi pago de outro jeito',
  underpaid: 'o valor recebido não cobre a compra',
};

/** The reason for which a payment has failed. */
export function failureText(reason: string | null): string | null {
  return reason && (FAILURES[reason] ?? reason);
}

const ATTEMPTS: readonly [error: RegExp, text: string][] = [
  [/within \d+ seconds/, 'sem resposta completa a tempo'],
  [/public https/, 'o endereço não é público'],
  [/refused/, 'a conexão foi recusada'],
  [/could not be resolved/, 'o endereço não existe'],
  [/could not be reached/, 'o endereço está fora de alcance'],
  [/closed/, 'a conexão foi interrompida'],
  [/secure connection/, 'sem conexão segura'],
  [/not HTTP/, 'a resposta não pôde ser lida'],
];

/** The outcome of an attempt to deliver a webhook: the status of the answer, or why there was none. */
export function attemptText({
  responseStatus,
  error,
}: {
  responseStatus: number | null;
  error: string | null;
}): string {
  if (responseStatus !== null) return `resposta ${responseStatus}`;
  return ATTEMPTS.find(([pattern]) => pattern.test(error ?? ''))?.[1] ?? 'sem resposta';
}
