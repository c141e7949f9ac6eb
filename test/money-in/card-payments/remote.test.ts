import { describe } from 'vitest';
import { describeRemote } from '../../support/port-fixture.ts';
import { describeOrders } from './orders-port.ts';
import { describePort } from './port.ts';

describe('card payments', () => {
  describeRemote(describePort);
  describeRemote(describeOrders);
});
