import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../db/database.ts';
import type { Reader, State, Writes } from './commit.ts';

/** The payment that gets the content of a product. */
export interface PaymentReference {
  readonly type: 'card_payment' | 'payment';
  readonly id: string;
}

/** A payment of a product. */
export interface ProductSale {
  readonly payment: PaymentReference;
  readonly productId: string;
  /** The URL that receives the payment's own webhooks. */
  readonly callbackUrl: string | null;
}

/** Content of a product as its payer sees it, read outside of a change. */
export interface ShownContent {
  readonly kind: 'text' | 'link' | 'codes';
  readonly status: 'pending' | 'delivered' | 'revoked';
  readonly content: string | null;
  readonly deliveredAt: Date | null;
}

/**
 * The content of products, for the slices whose payments are paid and refunded. The slice that owns the
 * content provides it. Its writes are part of the commit that makes the payment paid, so content is delivered
 * once, even after a crash.
 */
export interface ProductContent {
  /** Loads what `deliver` and `revoke` read. */
  read(reader: Reader, sale: ProductSale): Promise<unknown>;
  /** Delivers all content of the product to a payment that becomes paid. */
  deliver(state: State, sale: ProductSale, paidAt: Date): Writes;
  /** Hides the content from the payer of a payment that was refunded in full. */
  revoke(state: State, sale: ProductSale): Writes;
  /** Selects the content that was delivered to a payment, in the order of the deliveries. */
  select(sql: Sql, tenant: Tenant, payment: PaymentReference): Promise<readonly ShownContent[]>;
}
