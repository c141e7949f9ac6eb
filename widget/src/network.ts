// All that speaks to the server, in one chunk that is loaded with the first payment: a page of ten products that
// nobody buys downloads a button. It imports nothing of the entry's at run time.
export { followPayment } from './follow/follow.ts';
export { readPayment, startCheckout } from './request.ts';
