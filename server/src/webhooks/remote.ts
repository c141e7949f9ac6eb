import type { Committer } from '../commit/commit.ts';
import type { Database } from '../db/database.ts';
import type { WebhookService } from './model.ts';

export function createRemoteWebhooks(_: { database: Database; committer: Committer }): WebhookService {
  throw new Error('not built yet');
}
