/** The characters that an error repeats of a name. */
const MAX_SHOWN = 60;

/** A name in an error: in quotes if a space or a sign in it would be misread. */
export function shownName(name: string): string {
  const shown = name.slice(0, MAX_SHOWN);
  return /^[!#-~]+$/.test(shown) ? shown : JSON.stringify(shown);
}

/**
 * Finds the intended name of a misspelled one: a name that differs only in case, `_`, `-` and spaces, or by one or
 * two edits, or that begins with it, as `amountCents` begins with `amount`. Null if none is close.
 */
export function closestName(name: string, known: readonly string[]): string | null {
  const given = normalized(name.slice(0, MAX_SHOWN));
  if (given === '') return null;
  const distances = known.map((each) => distanceOf(given, normalized(each)));
  const nearest = Math.min(...distances);
  if (nearest <= (given.length > 4 ? 2 : 1)) return known[distances.indexOf(nearest)]!;
  return (given.length > 4 && known.find((each) => normalized(each).startsWith(given))) || null;
}

function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** The number of edits between two names: inserted, omitted or replaced letters, and exchanged neighbors. */
function distanceOf(left: string, right: string): number {
  let [before, row]: [number[], number[]] = [
    [],
    Array.from({ length: right.length + 1 }, (_, column) => column),
  ];
  for (let line = 1; line <= left.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[line - 1] === right[column - 1];
      const isExchanged =
        line > 1 &&
        column > 1 &&
        left[line - 1] === right[column - 2] &&
        left[line - 2] === right[column - 1];
      next.push(
        Math.min(
          row[column]! + 1,
          next[column - 1]! + 1,
          row[column - 1]! + (isSame ? 0 : 1),
          isExchanged ? before[column - 2]! + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [before, row] = [row, next];
  }
  return row[right.length]!;
}
