import type { PaymentsService, ServicesFor } from '../../api/graphql/services.ts';
import type { Requester } from '../../kernel/requester.ts';

type Factories = { [Name in keyof PaymentsService]: (requester: Requester) => PaymentsService[Name] };

interface LazyServices {
  readonly requester: Requester;
  created: Partial<PaymentsService> | null;
}

/**
 * Creates each service at its first use: every root field of a facade has a requester of its own, and uses one or two.
 * Thousands of subscriptions hold services, and few of them read anything. All share the getters through a prototype:
 * getters of its own would give each a hidden class, which V8 keeps until a full collection.
 */
export function createServicesFor(factories: Factories): ServicesFor {
  const prototype = Object.create(null);
  for (const name of Object.keys(factories) as (keyof PaymentsService)[])
    Object.defineProperty(prototype, name, {
      get(this: LazyServices) {
        this.created ??= {};
        const { created } = this;
        if (!created[name]) Object.assign(created, { [name]: factories[name](this.requester) });
        return created[name];
      },
    });
  return (requester) => ({ __proto__: prototype, requester, created: null }) as unknown as PaymentsService;
}
