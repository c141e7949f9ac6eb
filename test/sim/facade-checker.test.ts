import { describe, expect, onTestFinished, test } from 'vitest';
import { ofToday } from '../support/scale.ts';
import { takeDatabases } from './facade/databases.ts';
import { PLANTED, PLANTED_IN_SHOP } from './facade/planted.ts';
import { type Part, playStories } from './facade/stories.ts';
import type { FacadeTamper } from './facade/story.ts';
import { seedsFrom } from './failure.ts';

describe('the checker of stories finds a fault of a facade within a few seeds', () => {
  const MOST = 250;

  type Fault = [part: Part, name: string, tamper: FacadeTamper];
  const ofPayouts = Object.entries(PLANTED).map(([name, tamper]): Fault => ['payouts', name, tamper]);
  const ofShop = Object.entries(PLANTED_IN_SHOP).map(([name, tamper]): Fault => ['shop', name, tamper]);

  test.each(ofToday([...ofPayouts, ...ofShop]))(
    'The checker of stories finds a planted fault of the %s: %s',
    { timeout: 600_000 },
    async (part, _, tamper) => {
      const { urls, release } = await takeDatabases();
      onTestFinished(release);
      const seeds = seedsFrom(1, MOST);
      const { failures } = await playStories({
        ...{ databases: urls, seeds, tamper, parts: [part], untilBroken: true },
      });
      expect(failures).not.toEqual([]);
    },
  );
});
