import type { CardDetails } from '../../server/src/card-payments/model.ts';

/** A card of the simulated acquirer's, by number. */
export function card(number: string): CardDetails {
  return { number, holder: 'ANA SOUZA', expiryMonth: 12, expiryYear: 2030, securityCode: '123' };
}

export const approved = () => card('4242424242424242');
export const declined = () => card('4000000000000002');
/** No other try makes sense. */
export const declinedForGood = () => card('4100000000000019');
/** The acquirer decides after five seconds, and then approves. */
export const approvedSoon = () => card('4000000000003220');
/** After 45 minutes: when the session has expired. */
export const approvedLate = () => card('4000000000000077');
