import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../src/graphql/schema.ts';

process.stdout.write(`${printSchema(lexicographicSortSchema(schema))}\n`);
