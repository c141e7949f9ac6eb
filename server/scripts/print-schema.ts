import { schema } from '../src/graphql/schema.ts';
import { printSorted } from '../src/graphql/semantic-non-null.ts';

process.stdout.write(printSorted(schema));
