import { takePostgres } from '../../support/postgres-pool.ts';
import { AT_ONCE } from './stories.ts';

/** Takes databases in which stories are played, one after another. */
export async function takeDatabases(most = AT_ONCE): Promise<{ urls: string[]; release(): void }> {
  const taken = await Promise.all(Array.from({ length: Math.min(most, AT_ONCE) }, takePostgres));
  return { urls: taken.map(({ url }) => url), release: () => taken.forEach(({ release }) => void release()) };
}
