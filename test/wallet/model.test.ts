import { expect, test } from 'vitest';
import * as model from '../../server/src/wallet/model.ts';
test('x', () => { expect(model).toBeDefined(); });
