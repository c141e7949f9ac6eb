import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../db/database.ts';
import type { Reader, State, Writes } from './commit.ts';

/** The payment that a product's content is delivered to. */
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

/** Content of a product as its payer sees it, outside of a change. */
export interface ShownContent {
  readonly kind: 'text' | 'link' | 'codes';
  readonly status: 'pending' | 'delivered' | 'revoked';
  readonly content: string | null;
  readonly deliveredAt: Date | null;
}

/**
 * The content of products, for the slices whose payments are paid and refunded. The slice that owns the content provides it.
 * Its writes belong to the commit that makes the payment paid: so content is delivered once, whatever crashes.
 */
export interface ProductContent {
  /** Loads what `deliver` and `revoke` read. */
  read(reader: Reader, sale: ProductSale): Promise<unknown>;
  /** Delivers all content of the product to a payment that becomes paid. */
  deliver(state: State, sale: ProductSale, paidAt: Date): Writes;
  /** Hides the content from the payer of a payment that was refunded whole. */
  revoke(state: State, sale: ProductSale): Writes;
  /** Selects the content that a payment was given, in the order of its deliveries. */
  select(sql: Sql, tenant: Tenant, payment: PaymentReference): Promise<readonly ShownContent[]>;
}
