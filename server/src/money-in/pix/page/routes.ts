import type { Brand, Brands } from '../../../api/checkout-page/brand.ts';
import type { Site } from '../../../api/checkout-page/layout.ts';
import { createCheckoutPages, redirect, sendPage } from '../../../api/checkout-page/pages.ts';
import type { PageLimits } from '../../../api/http/admission.ts';
import type { ClientAddress } from '../../../api/http/client-address.ts';
import type { RequestContext, Route } from '../../../api/http/routes.ts';
import { type Clock, secondsLeft } from '../../../kernel/clock.ts';
import type { HostedPixCheckout } from '../model.ts';
import { type Order, successUrlOf } from './order.ts';
import { pageState } from './state.ts';
import { paymentPage } from './view.ts';

/** The page of payments that another method pays, under ids of the same form. */
export interface OtherPage {
  /** Returns the state and the page of a payment; null if it has another method. */
  show(site: Site, order: Order, now: Date): { state: string; page: string } | null;
}

/** A payment with the look of its shop. */
type Opened = Order & { brand: Brand | null };

/**
 * The hosted page of any resource that a PIX code pays. It works without a script; the script copies the
 * code, and shows a change at once. These routes come before those of other methods, which take any
 * identifier.
 *
 * @param options.publicUrl the address of this server in the payer's browser; a path in it precedes every
 * link
 * @param options.isTest whether the codes belong to a bank that moves no money
 * @param options.limits the limits of one network, on requests for payments that do not exist
 */
export function createPixPageRoutes({
  checkout,
  clock,
  publicUrl,
  isTest,
  addressOf,
  limits,
  brands,
  others = [],
}: {
  checkout: HostedPixCheckout;
  clock: Clock;
  publicUrl: string;
  isTest: boolean;
  addressOf: ClientAddress;
  limits: PageLimits;
  brands: Brands;
  others?: readonly OtherPage[];
}): Route[] {
  const pages = createCheckoutPages({ publicUrl, isTest, addressOf, limits, brands });

  /** @throws HttpError 404, RateLimitError */
  function open(context: RequestContext, options: { asksBank: boolean }): Promise<Opened> {
    return pages.open(context, async (id) => {
      const found = await checkout.open(id, options);
      return (
        found && {
          ...found,
          secondsLeft: secondsLeft(found.payment.expiresAt, clock),
          path: `${pages.basePath}/${id}`,
        }
      );
    });
  }

  function shown(site: Site, order: Order): { state: string; page: () => string } {
    const now = clock.now();
    for (const other of others) {
      const found = other.show(site, order, now);
      if (found) return { state: found.state, page: () => found.page };
    }
    const state = pageState(order.payment, order.orderStatus, now);
    return { state, page: () => paymentPage(site, order, state) };
  }

  async function show(context: RequestContext): Promise<void> {
    const { response, url } = context;
    const order = await open(context, { asksBank: true });
    const { payment } = order;
    const site = pages.siteOf(context, order.brand);
    const { state, page } = shown(site, order);
    // A payer who has bought content reads it first.
    if (state === 'paid' && order.delivered.length === 0 && url.searchParams.has('seguir')) {
      const next = successUrlOf(payment);
      if (next !== null) return redirect(response, next);
    }
    sendPage(response, 200, page(), { language: site.language, successUrl: payment.successUrl });
  }

  async function status(context: RequestContext): Promise<object> {
    // The bank is called when the payer returns to the page, not each time the page polls.
    const order = await open(context, { asksBank: context.url.searchParams.has('voltou') });
    const { payment, secondsLeft } = order;
    return {
      status: payment.status,
      version: payment.version,
      state: shown(pages.siteOf(context, order.brand), order).state,
      secondsLeft,
    };
  }

  return [
    {
      methods: ['GET', 'HEAD'],
      path: /^\/checkout\/(?<id>(?:psa|psc|psplit)_[^/]*)\/status$/,
      handle: pages.asStatus(status),
    },
    {
      methods: ['GET', 'HEAD'],
      path: /^\/checkout\/(?<id>(?:psa|psc|psplit)_[^/]*)$/,
      handle: pages.asPage(show),
    },
  ];
}
