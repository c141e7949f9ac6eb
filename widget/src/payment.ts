// The chunk that a payment needs: requests, transports, the panel and its texts. It loads with the first click or the
// first payment found again, so a page of ten products that nobody buys downloads a button alone. It imports nothing from
// the entry at run time, or an entry loaded as `psa-checkout.js?v=2` would be loaded a second time without its query.
export { followPayment } from './follow/follow-payment.ts';
export { texts } from './locales/pt-BR.ts';

export { adoptStyles, ICONS, panel } from './panel.ts';
export { readDelivered, readPayment } from './request.ts';
export { startPayment as startCheckout } from './start-payment.ts';
