import { describe } from 'vitest';
import { describeRemote } from '../support/harness.ts';
import { describePort } from './port.ts';

describe('test payments', () => {
  describeRemote(describePort);
});
