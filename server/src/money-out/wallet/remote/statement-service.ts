import type { Database } from '../../../state/db/database.ts';
import type { StatementService } from '../statement.ts';
import { createStatementOf } from '../statement-service.ts';
import { SEEN } from './sighting-collections.ts';

/** The statement of what this server has seen of the service's wallet. */
export function createRemoteStatement({ database }: { database: Database }): StatementService {
  return createStatementOf(SEEN, database);
}
