import { expect, test } from 'vitest';
import * as model from '../../server/src/sandbox/model.ts';
test('x', () => { expect(model).toBeDefined(); });
