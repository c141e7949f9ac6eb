import { printSorted } from '../src/graphql/print-schema.ts';
import { schema } from '../src/modes/schema.ts';

process.stdout.write(printSorted(schema));
