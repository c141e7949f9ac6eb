import { printSorted } from '../src/api/graphql/print-schema.ts';
import { schema } from '../src/programs/modes/schema.ts';

process.stdout.write(printSorted(schema));
