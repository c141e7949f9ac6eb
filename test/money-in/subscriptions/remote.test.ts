import { describe } from 'vitest';
import { describeRemote } from '../../support/port-fixture.ts';
import { describePort } from './port.ts';

describe('subscriptions', () => {
  describeRemote(describePort);
});
