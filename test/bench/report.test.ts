import { expect, test } from 'vitest';
import { missedTargets, type Row, table } from './report.ts';

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

test('The rows that miss their target are named, and no other row of the benchmark', () => {
  expect(missedTargets([...MET, ...MISSED])).toEqual(MISSED.map(({ name }) => name));
  expect(missedTargets(MET)).toEqual([]);
});

test('The table of the benchmark marks each row that has a target as met or missed', () => {
  const marks = (rows: Row[]) => table(rows).match(/[✓✗]/g);
  expect(marks(MISSED)).toEqual(['✗', '✗', '✗']);
  expect(marks(MET)).toEqual(['✓', '✓', '✓']);
});
