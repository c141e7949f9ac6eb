import type { CardDetails } from '../../server/src/money-in/card-payments/hosted-checkout.ts';

/** Creates the details of a test card of the simulated acquirer. */
export function card(number: string): CardDetails {
  return { number, holder: 'ANA SOUZA', expiryMonth: 12, expiryYear: 2030, securityCode: '123' };
}

export const approved = () => card('4242424242424242');
export const declined = () => card('4000000000000002');
/** A card whose decline forbids another attempt. */
export const declinedForGood = () => card('4100000000000019');
/** A card that the acquirer approves after five seconds. */
export const approvedSoon = () => card('4000000000003220');
/** A card that the acquirer approves after 45 minutes, when the session has expired. */
export const approvedLate = () => card('4000000000000077');
