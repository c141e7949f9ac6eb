import type { Requester } from '../../kernel/requester.ts';

/** The port that the GraphQL layer calls. Each slice adds its own service; the embedded services and the facade implement them. */
// biome-ignore lint/suspicious/noEmptyInterface: slices add their services.
export interface PaymentsService {}

/** Creates the port of one operation: a facade sends the requests of a payer and of a merchant with different priority. */
export type ServicesFor = (requester: Requester) => PaymentsService;
