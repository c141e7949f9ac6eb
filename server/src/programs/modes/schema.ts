import '../../api/graphql/scalars.ts';
import '../../api/graphql/errors.ts';
import '../../api/graphql/account-updates.ts';
import '../../api/graphql/federation.ts';
import '../../access/schema.ts';
import '../../money-in/card-payments/schema.ts';
import '../../money-in/card-payments/totals/schema.ts';
import '../../money-in/card-payments/tokens/schema.ts';
import '../../money-in/card-payments/updates/schema.ts';
import '../../money-in/charges/schema.ts';
import '../../money-in/charges/totals/schema.ts';
import '../../money-in/charges/updates/schema.ts';
import '../../catalogue/deliveries/schema.ts';
import '../../money-in/disputes/schema.ts';
import '../../money-in/disputes/updates/schema.ts';
import '../../money-in/payments/schema.ts';
import '../../money-in/payments/totals/schema.ts';
import '../../money-in/payments/updates/schema.ts';
import '../../money-out/payouts/schema.ts';
import '../../money-out/payouts/totals/schema.ts';
import '../../money-out/payouts/updates/schema.ts';
import '../../catalogue/products/schema.ts';
import '../../money-in/refunds/returns/schema.ts';
import '../../money-in/refunds/schema.ts';
import '../../money-in/refunds/totals/schema.ts';
import '../../money-in/refunds/updates/schema.ts';
import '../../requests/schema.ts';
import '../../money-in/sandbox/schema.ts';
import '../../catalogue/store/schema.ts';
import '../../money-out/subaccounts/schema.ts';
import '../../money-out/subaccounts/totals/schema.ts';
import '../../money-out/subaccounts/updates/schema.ts';
import '../../money-in/subscriptions/schema.ts';
import '../../money-in/subscriptions/updates/schema.ts';
import '../../money-out/wallet/schema.ts';
import '../../webhooks/schema.ts';
import '../../webhooks/updates/schema.ts';
import { isEnumType, specifiedDirectives } from 'graphql';
import { builder } from '../../api/graphql/builder.ts';
import { locateLiterals } from '../../api/graphql/literals.ts';
import { resolveIdsSynchronously } from '../../api/graphql/node-ids.ts';
import { SEMANTIC_NON_NULL } from '../../api/graphql/semantic-non-null.ts';

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
