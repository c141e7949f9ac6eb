import { printSorted } from '../src/graphql/print-schema.ts';
import { schema } from '../src/graphql/schema.ts';

process.stdout.write(printSorted(schema));
