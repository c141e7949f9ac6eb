// Prints the `possibleTypes` of Apollo Client: the object types of each interface and union of the schema.
import { readFileSync } from 'node:fs';
import { buildSchema, isAbstractType } from 'graphql';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));
const possibleTypes = Object.values(schema.getTypeMap())
  .filter((type) => isAbstractType(type) && !type.name.startsWith('__'))
  .map((type) => [
    type.name,
    schema
      .getPossibleTypes(type)
      .map(({ name }) => name)
      .sort(),
  ])
  .sort();
process.stdout.write(`${JSON.stringify(Object.fromEntries(possibleTypes), null, 2)}\n`);
