import '../graphql/scalars.ts';
import '../graphql/errors.ts';
import '../graphql/account-updates.ts';
import '../graphql/federation.ts';
import '../access/schema.ts';
import '../card-payments/schema.ts';
import '../card-payments/totals/schema.ts';
import '../card-payments/tokens/schema.ts';
import '../card-payments/updates/schema.ts';
import '../charges/schema.ts';
import '../charges/totals/schema.ts';
import '../charges/updates/schema.ts';
import '../deliveries/schema.ts';
import '../disputes/schema.ts';
import '../disputes/updates/schema.ts';
import '../payments/schema.ts';
import '../payments/totals/schema.ts';
import '../payments/updates/schema.ts';
import '../payouts/schema.ts';
import '../payouts/totals/schema.ts';
import '../payouts/updates/schema.ts';
import '../products/schema.ts';
import '../refunds/returns/schema.ts';
import '../refunds/schema.ts';
import '../refunds/totals/schema.ts';
import '../refunds/updates/schema.ts';
import '../requests/schema.ts';
import '../sandbox/schema.ts';
import '../store/schema.ts';
import '../subaccounts/schema.ts';
import '../subaccounts/totals/schema.ts';
import '../subaccounts/updates/schema.ts';
import '../subscriptions/schema.ts';
import '../subscriptions/updates/schema.ts';
import '../wallet/schema.ts';
import '../webhooks/schema.ts';
import '../webhooks/updates/schema.ts';
import { isEnumType, specifiedDirectives } from 'graphql';
import { builder } from '../graphql/builder.ts';
import { locateLiterals } from '../graphql/literals.ts';
import { resolveIdsSynchronously } from '../graphql/node-ids.ts';
import { SEMANTIC_NON_NULL } from '../graphql/semantic-non-null.ts';

/** The whole schema: the imports above add the types of every slice. */
export const schema = builder.toSchema({ directives: [...specifiedDirectives, SEMANTIC_NON_NULL] });
locateLiterals(schema);
resolveIdsSynchronously(schema);

// An enum value of a newer version, which may use the same database during an upgrade, is shown as UNKNOWN.
for (const type of Object.values(schema.getTypeMap())) {
  const unknownValue = isEnumType(type) && type.getValue('UNKNOWN');
  if (!unknownValue) continue;
  const known = new Set(type.getValues().map(({ value }) => value));
  const serialize = type.serialize.bind(type);
  type.serialize = (value) =>
    serialize(typeof value === 'string' && !known.has(value) ? unknownValue.value : value);
}
