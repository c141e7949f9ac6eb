/** The height of the chart in units of its drawing. */
export const HEIGHT = 160;
/** The least height of a half, so that the zero line never lies on an edge. */
const MIN_HALF = 12;
const MARGIN = 2;
/** The least height of a bar, so that a small amount beside a large one is still there. */
const MIN_BAR = 1.5;

export interface ChartScale {
  /** The place of the zero line. */
  zero: number;
  /** The height of a bar, up or down: of one scale for both. */
  heightOf(cents: number): number;
  /** The amounts at the upper and the lower edge; null if there is none to name. */
  topCents: number | null;
  bottomCents: number | null;
}

/** The scale of a chart of money in, upwards, and money out, downwards. */
export function chartScale(largestInCents: number, largestOutCents: number): ChartScale {
  const maxInCents = roundUp(largestInCents);
  const maxOutCents = roundUp(largestOutCents);
  const whole = maxInCents + maxOutCents;
  const share = whole === 0 ? 0.5 : maxInCents / whole;
  // The halves share the height without the margins, so one scale takes both largest amounts to their edges.
  const middle = MARGIN + share * (HEIGHT - 2 * MARGIN);
  const zero = Math.min(HEIGHT - MIN_HALF, Math.max(MIN_HALF, middle));
  const [up, down] = [zero - MARGIN, HEIGHT - zero - MARGIN];
  // The half that has less room for its largest amount decides for both.
  const perCent =
    whole === 0
      ? 0
      : Math.min(...[up / maxInCents, down / maxOutCents].filter((each) => Number.isFinite(each)));
  // A half that got its least height ends beyond its largest amount, which names nothing on its edge.
  const edge = (maxCents: number, room: number) =>
    maxCents > 0 && maxCents * perCent > room - MARGIN ? maxCents : null;
  return {
    zero,
    heightOf: (cents) => (cents === 0 ? 0 : Math.max(MIN_BAR, cents * perCent)),
    topCents: edge(maxInCents, up),
    bottomCents: edge(maxOutCents, down),
  };
}

/** Rounds up to 1, 2 or 5 times a power of ten, so that the scale does not change with each sale. */
function roundUp(cents: number): number {
  if (cents <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(cents));
  return ([1, 2, 5, 10].find((step) => step * power >= cents) ?? 10) * power;
}
