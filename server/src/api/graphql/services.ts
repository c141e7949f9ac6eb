import type { RequestKeys } from '../../kernel/request-keys.ts';
import type { Requester } from '../../kernel/requester.ts';

/** The port that the GraphQL layer calls. Each slice adds its own service; the embedded services and the facade implement them. */
export interface PaymentsService {
  requestKeys: RequestKeys;
}

/** Creates the port of one operation: a facade sends the requests of a payer and of a merchant with different priority. */
export type ServicesFor = (requester: Requester) => PaymentsService;
