import { builder } from '../../api/graphql/builder.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { centsFields, periodFields } from '../../api/graphql/filters.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import { authorized, successType } from '../../api/graphql/mutations.ts';
import { BOTH_WAYS, connectionArguments, readConnection, totalOf } from '../../api/graphql/paging.ts';
import { assertMay, assertUnrestrictedKey, callerOf } from '../../kernel/caller.ts';
import {
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { productIdText } from '../../money-in/checkout/model.ts';
import { createProductInput, type Product, type ProductFilter, type ProductService } from './model.ts';

const loads = addLoaders({
  product: ({ products }, tenant, ids) => products.findMany(tenant, ids),
});

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    products: ProductService;
  }
}

declare module '../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

export const ProductRef = builder.objectRef<Product>('Product');

addEntity(ProductRef, 'productId');
builder.node(ProductRef, {
  id: { resolve: (product) => product.id },
  loadOne: (productId, context) => {
    assertMay(callerOf(context), 'products.read');
    return context.loaders.product.load(productId);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'priceCents' in value,
  description:
    'An item that an account sells, at a price that a checkout token can name. A product never changes: it is deleted.',
  fields: (t) => ({
    productId: t.exposeString('id', { description: 'The identifier: 24 hex digits.' }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'The name, which the payer reads if a payment has no description of its own.',
    }),
    description: t.exposeString('description', { nullable: true }),
    priceCents: t.expose('priceCents', {
      type: 'Cents',
      nullable: true,
      description: 'The price in cents of BRL. Null if the upstream service does not report it.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true }),
  }),
});

const ProductConnection = builder.connectionObject(
  {
    type: ProductRef,
    name: 'ProductConnection',
    fields: (t) => ({
      totalCount: t.int({ resolve: totalOf }),
    }),
  },
  { name: 'ProductEdge' },
);

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

const ProductFilterInput = builder.inputType('ProductFilter', {
  description: 'Conditions of a list of products. A list with dates is in the order of createdAt.',
  fields: (t) =>
    ({
      ...centsFields(t, 'products at a price', 'Price'),
      ...periodFields(t, 'created', 'products created'),
    }) satisfies { [Member in keyof ProductFilter]-?: unknown },
});

builder.queryFields((t) => ({
  product: t.field({
    type: ProductRef,
    nullable: true,
    args: { productId: t.arg.string({ required: true }) },
    description: 'The product with this productId, in upper or lower case.',
    resolve: (_, { productId }, context) => {
      assertMay(callerOf(context), 'products.read');
      return context.loaders.product.load(productId);
    },
  }),
  products: t.field({
    type: ProductConnection,
    description: `A list of products, newest first. ${BOTH_WAYS}`,
    args: { ...connectionArguments(t.arg), filter: t.arg({ type: ProductFilterInput }) },
    resolve: async (_, args, context) => {
      const filter = readFilter<ProductFilter>(args.filter);
      const { tenant } = callerOf(context);
      assertMay(callerOf(context), 'products.read');
      const { products } = context.services;
      return readConnection(context.listCursors('products'), args, {
        list: (range) => products.list(tenant, { ...range, ...filter }),
        node: ({ product }) => product,
        total: () => products.count(tenant, filter),
      });
    },
  }),
}));

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const CreateProductInput = builder.inputType('CreateProductInput', {
  validate: { schema: createProductInput },
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the product, at most 200 characters.' }),
    description: t.string({ description: 'A description, at most 2000 characters long.' }),
    priceCents: t.field({
      type: 'Cents',
      required: true,
      description: 'The price in cents: at least 80, as for a card payment.',
    }),
  }),
});

const CreateProductSuccess = successType<{ product: Product }>(
  'CreateProductSuccess',
  (t) => ({ product: t.expose('product', { type: ProductRef }) }),
  { formerly: 'ProductSuccess' },
);

const DeleteProductSuccess = successType<{ productId: string }>('DeleteProductSuccess', (t) => ({
  deleted: t.boolean({ resolve: () => true }),
  deletedId: t.globalID({
    description: 'The `id` that the deleted product had.',
    resolve: ({ productId }) => ({ type: 'Product', id: productId }),
  }),
  productId: t.exposeString('productId', { description: 'The productId that the deleted product had.' }),
}));

builder.mutationFields((t) => ({
  createProduct: t.field({
    type: CreateProductSuccess,
    description: 'Creates a product. At most 500 products for each account and environment.',
    args: { input: t.arg({ type: CreateProductInput, required: true }) },
    errors: { types: [ValidationError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { input }, { services }) => ({
      product: await services.products.create(tenant, input),
    })),
  }),
  deleteProduct: t.field({
    type: DeleteProductSuccess,
    description: 'Deletes a product permanently. A checkout token for it starts no payment any more.',
    args: { productId: t.arg.string({ required: true, validate: { schema: productIdText as never } }) },
    errors: { types: [ValidationError, NotFoundError, RateLimitError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { productId }, { services }) => {
      await services.products.delete(tenant, productId);
      return { productId };
    }),
  }),
}));
