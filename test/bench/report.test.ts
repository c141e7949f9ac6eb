import { describe, expect, test } from 'vitest';
import { failuresOf, type Row } from './report.ts';

function row(name: string, changed: Partial<Row>): Row {
  return { name, unit: 'ms', ours: 4, floor: 2, ratio: 2, beside: '', explanation: '', ...changed };
}

const MISSED = [
  row('slower than its least', { target: { atLeast: 3 } }),
  row('dearer than its most', { target: { atMost: 1.9 } }),
  row('more than its most, without a floor', { floor: null, ratio: null, target: { atMost: 3 } }),
];
const MET = [
  row('at its least', { target: { atLeast: 2 } }),
  row('at its most', { target: { atMost: 2 } }),
  row('without a floor', { floor: null, ratio: null, target: { atMost: 4 } }),
  row('without a target', {}),
];

describe('a run of the benchmark', () => {
  test('With --strict it fails for each row that misses its target', () => {
    const names = MISSED.map(({ name }) => name);
    expect(failuresOf([...MET, ...MISSED], { strict: true })).toEqual(names);
    expect(failuresOf(MET, { strict: true })).toEqual([]);
  });

  test('Without it a miss is a mark in the table, except in the soak', () => {
    expect(failuresOf(MISSED)).toEqual([]);
    expect(failuresOf(MISSED, { soaks: true })).toHaveLength(3);
  });
});
