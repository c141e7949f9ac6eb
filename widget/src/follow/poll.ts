import type { CardPayment } from '../operations.ts';
import { pause } from './pause.ts';
import type { FollowEnd } from './transport.ts';

const FIRST_MS = 2_000;
const LAST_MS = 10_000;
const HIDDEN_MS = 15_000;

/** Asks every two seconds at first and ever more slowly after a minute. Throws what asking throws. */
export async function followPolls(options: {
  read: () => Promise<CardPayment>;
  signal: AbortSignal;
  onOpen: () => void;
  onPayment: (payment: CardPayment) => void;
}): Promise<FollowEnd> {
  const { read, signal, onOpen, onPayment } = options;
  for (let round = 0; !signal.aborted; round++) {
    const payment = await read();
    onOpen();
    onPayment(payment);
    await pause(document.hidden ? HIDDEN_MS : Math.min(LAST_MS, Math.max(FIRST_MS, round * 80)), signal);
  }
  return { type: 'lost' };
}
