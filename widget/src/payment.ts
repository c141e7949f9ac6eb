// The chunk that a payment needs: requests, transports, the panel and its texts. It loads with the first
// click or the first payment found again, so a page of ten products downloads only a button until somebody
// buys. It imports nothing from the entry at run time: otherwise an entry loaded as `psa-checkout.js?v=2`
// would be loaded a second time without its query.
import { followPayment } from './follow/follow-payment.ts';
import { arrive } from './import-again.ts';
import { texts } from './locales/pt-BR.ts';
import { adoptStyles, ICONS, panel } from './panel.ts';
import { readDelivered, readPayment } from './request.ts';
import { startPayment as startCheckout } from './start-payment.ts';

export { adoptStyles, followPayment, ICONS, panel, readDelivered, readPayment, startCheckout, texts };

const chunk = { adoptStyles, followPayment, ICONS, panel, readDelivered, readPayment, startCheckout, texts };
arrive('checkout.payment', chunk);
