// The GraphQL documents of the products and the types of their results; operations.check.ts checks both against schema.graphql.

export interface Product {
  productId: string;
  name: string | null;
  description: string | null;
  priceCents: number | null;
  createdAt: string | null;
}

/** Content that the payers of a product get. A dashboard token does not see the content itself. */
export interface Delivery {
  deliveryId: string;
  kind: 'TEXT' | 'LINK' | 'CODES' | 'UNKNOWN';
  productId: string | null;
  /** The number of payments that received it; null if it is not known. */
  deliveredCount: number | null;
  /** The codes in stock; null for the other kinds. */
  remainingCount: number | null;
  stock: 'READY' | 'LOW' | 'EMPTY';
  createdAt: string | null;
}

/** A product of the chat platform's store, which is changed there alone. */
export interface StoreProduct {
  storeProductId: string;
  name: string | null;
  /** The price as the store writes it. */
  price: string | null;
  priceCents: number | null;
  available: boolean | null;
}

export interface Page<Item> {
  nodes: Item[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

const PAGE_INFO = 'pageInfo{hasNextPage endCursor}' as const;
const DELIVERY = 'deliveryId kind productId deliveredCount remainingCount stock createdAt' as const;

export const PRODUCTS =
  `query ConsoleProducts($after:String){products(first:100,after:$after){nodes{productId name description priceCents createdAt}${PAGE_INFO}}}` as const;

/** The stocks that end or have ended. In front of another service it is refused. */
export const LOW_STOCKS =
  `query ConsoleLowStocks($after:String){deliveries(first:100,after:$after,filter:{stock:[LOW,EMPTY]}){nodes{${DELIVERY}}${PAGE_INFO}}}` as const;

/** The content of one product, which has ten deliveries at most. */
export const DELIVERIES =
  `query ConsoleDeliveries($productId:String!){deliveries(first:100,filter:{productId:$productId}){nodes{${DELIVERY}}${PAGE_INFO}}}` as const;

export const STORE_PRODUCTS =
  `query ConsoleStoreProducts($after:String){storeProducts(first:100,after:$after){nodes{storeProductId name price priceCents available}${PAGE_INFO}}}` as const;
