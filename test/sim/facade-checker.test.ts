import { describe, expect, onTestFinished, test } from 'vitest';
import { takeDatabases } from './facade/databases.ts';
import { PLANTED } from './facade/planted.ts';
import { playStories } from './facade/stories.ts';
import { seedsFrom } from './failure.ts';

describe('the checker of stories finds a fault of a facade within a few seeds', () => {
  const MOST = 250;

  test.each(Object.entries(PLANTED))(
    'The checker of stories finds a planted fault: %s',
    { timeout: 600_000 },
    async (_, tamper) => {
      const { urls, release } = await takeDatabases();
      onTestFinished(release);
      const seeds = seedsFrom(1, MOST);
      const { failures } = await playStories({ databases: urls, seeds, tamper, untilBroken: true });
      expect(failures).not.toEqual([]);
    },
  );
});
