import './scalars.ts';
import './errors.ts';
import '../access/schema.ts';
import '../card-payments/schema.ts';
import '../card-payments/tokens/schema.ts';
import '../payouts/schema.ts';
import '../products/schema.ts';
import '../requests/schema.ts';
import '../sandbox/schema.ts';
import '../subaccounts/schema.ts';
import '../wallet/schema.ts';
import '../webhooks/schema.ts';
import { builder } from './builder.ts';

/** The whole schema: the imports above add the types of every slice. */
export const schema = builder.toSchema();
