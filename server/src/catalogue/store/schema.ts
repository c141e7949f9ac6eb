import { builder } from '../../api/graphql/builder.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { centsFields } from '../../api/graphql/filters.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import {
  connectionArguments,
  connectionOf,
  pagesBeside,
  rangeOf,
  totalOf,
} from '../../api/graphql/paging.ts';
import { assertMay, callerOf } from '../../kernel/caller.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { priceCentsOf, type StoreProduct, type StoreProductFilter, type StoreService } from './model.ts';

const loads = addLoaders({
  storeProduct: ({ store }, tenant, ids) => store.findMany(tenant, ids),
});

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    store: StoreService;
  }
}

declare module '../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

const StoreProductRef = builder.objectRef<StoreProduct>('StoreProduct');

addEntity(StoreProductRef, 'storeProductId');
builder.node(StoreProductRef, {
  id: { resolve: ({ storeProductId }) => storeProductId },
  loadOne: (id, context) => {
    assertMay(callerOf(context), 'products.read');
    return context.loaders.storeProduct.load(id);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'storeProductId' in value,
  description: 'A product of the chat platform’s store. Read-only here.',
  fields: (t) => ({
    storeProductId: t.exposeString('storeProductId', {
      description: 'The identifier that the store gives the product.',
    }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'The name of the product, as the store writes it.',
    }),
    description: t.exposeString('description', { nullable: true }),
    price: t.exposeString('price', {
      nullable: true,
      description: 'The price as the store writes it, in the Brazilian decimal format: 1.234,56.',
    }),
    priceCents: t.field({
      type: 'Cents',
      nullable: true,
      description: 'The price in cents; null if `price` is not in that format.',
      resolve: ({ price }) => priceCentsOf(price),
    }),
    imageUrl: t.expose('imageUrl', {
      type: 'Url',
      nullable: true,
      description: 'The URL of an image, at the store’s own address; null if there is none.',
    }),
    available: t.exposeBoolean('available', {
      nullable: true,
      description: 'Whether the store sells it now; null if the store does not report it.',
    }),
  }),
});

const StoreProductConnection = builder.connectionObject(
  {
    type: StoreProductRef,
    name: 'StoreProductConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'StoreProductEdge' },
);

const StoreProductFilterInput = builder.inputType('StoreProductFilter', {
  description: 'Conditions of the list of the store’s products. In remote mode each member: NOT_OFFERED.',
  fields: (t) =>
    ({
      available: t.boolean({
        description:
          'Selects products that the store sells now where true, and those that it does not where false.',
      }),
      ...centsFields(t, 'products at a price', 'Price'),
    }) satisfies { [Member in keyof StoreProductFilter]-?: unknown },
});

builder.queryFields((t) => ({
  storeProduct: t.field({
    type: StoreProductRef,
    nullable: true,
    args: { storeProductId: t.arg.string({ required: true }) },
    description: 'The product of the store with this storeProductId.',
    resolve: (_, { storeProductId }, context) => {
      assertMay(callerOf(context), 'products.read');
      return context.loaders.storeProduct.load(storeProductId);
    },
  }),
  storeProducts: t.field({
    type: StoreProductConnection,
    description:
      'The products of the store, in its own order. Read-only. `first` and `after` read forwards, `last` and `before` backwards.',
    args: {
      ...connectionArguments(t.arg),
      filter: t.arg({ type: StoreProductFilterInput }),
    },
    resolve: async (_, args, context) => {
      const filter = readFilter<StoreProductFilter>(args.filter);
      const caller = callerOf(context);
      assertMay(caller, 'products.read');
      const cursors = context.listCursors('storeProducts');
      const range = rangeOf(cursors, args);
      const { items, more } = await context.services.store.list(caller.tenant, { ...filter, ...range });
      const nodes = items.map(({ position, product }) => ({ position, node: product }));
      return connectionOf(cursors, nodes, {
        ...pagesBeside(range, more),
        total: () => context.services.store.count(caller.tenant, filter),
      });
    },
  }),
}));
