import { LitElement } from 'lit';
import type { Transport } from '../follow/transport.ts';
import type { Texts } from './locales/texts.ts';
import type { PayoutSort } from './payout-list.ts';

/** The properties of `<psa-payouts>`, with their attributes. */
export class PayoutsProperties extends LitElement {
  // A getter, for the same reason as the getter of the styles.
  static override get properties() {
    return {
      endpoint: {},
      token: {},
      transport: {},
      statuses: {},
      methods: {},
      requestedAfter: { attribute: 'requested-after' },
      requestedBefore: { attribute: 'requested-before' },
      amountCents: { attribute: 'amount-cents', type: Number },
      externalId: { attribute: 'external-id' },
      reference: {},
      sort: {},
      pageSize: { attribute: 'page-size', type: Number },
      locale: {},
      labels: { attribute: false },
      renewToken: { attribute: false },
    };
  }

  declare endpoint: string | undefined;
  declare token: string | undefined;
  declare transport: 'auto' | Transport;
  /** The shown statuses, separated by spaces. */
  declare statuses: string;
  /** The shown methods, separated by spaces. */
  declare methods: string | undefined;
  declare requestedAfter: string | undefined;
  declare requestedBefore: string | undefined;
  declare amountCents: number | undefined;
  declare externalId: string | undefined;
  declare reference: string | undefined;
  declare sort: PayoutSort;
  declare pageSize: number;
  declare locale: string | undefined;
  /** Texts that replace those of the locale, by name. */
  declare labels: Partial<Texts> | undefined;
  /** Returns a new token when the old one has expired. */
  declare renewToken: (() => Promise<string> | string) | undefined;

  constructor() {
    super();
    this.transport = 'auto';
    this.statuses = '';
    this.sort = '-requested';
    this.pageSize = 50;
  }
}
