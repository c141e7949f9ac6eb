import { describe } from 'vitest';
import { describeRemote } from '../../support/port-fixture.ts';
import { describePort } from './port.ts';
import { describePixStarts } from './starts-port.ts';

describe('PIX payments', () => {
  describeRemote(
    (start) => {
      describePort(start);
      describePixStarts(start);
    },
    { families: 'payments' },
  );
});
