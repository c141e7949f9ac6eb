import { isEnumType } from 'graphql';
import { schema } from '../../server/src/programs/modes/schema.ts';

const type = schema.getType('DashboardScope');
if (!isEnumType(type)) throw new Error('The schema has no DashboardScope.');

/** Every scope of dashboard tokens, as GraphQL names it. */
export const SCOPES = type.getValues().map(({ name }) => name);
