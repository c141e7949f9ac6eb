// All that is needed once there is a payment: what speaks to the server, what the panel shows and says. One
// chunk, loaded with the first click or the first payment found again: a page of ten products that nobody buys
// downloads a button. It imports nothing of the entry's at run time, so that an entry loaded as
// `psa-checkout.js?v=2` is not loaded a second time without its query.
export { followPayment } from './follow/follow-payment.ts';
export { texts } from './locales/pt-BR.ts';
export { ICONS, panel } from './panel.ts';
export { readPayment, startCheckout } from './request.ts';
