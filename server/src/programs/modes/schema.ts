import '../../api/graphql/scalars.ts';
import '../../api/graphql/errors.ts';
import '../../api/graphql/federation.ts';
import './slices.ts';
import { isEnumType, specifiedDirectives } from 'graphql';
import { addAccountUpdatesField } from '../../api/graphql/account-updates.ts';
import { builder } from '../../api/graphql/builder.ts';
import { locateLiterals } from '../../api/graphql/literals.ts';
import { resolveIdsSynchronously } from '../../api/graphql/node-ids.ts';
import { SEMANTIC_NON_NULL } from '../../api/graphql/semantic-non-null.ts';

addAccountUpdatesField();

/** The whole schema: the slices add their types when they are imported. */
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
