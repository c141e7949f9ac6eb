/** A color of the screen: red, green and blue from 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number];

/** Parses #rrggbb; null for any other text. */
export function parseColor(text: string): Color | null {
  const [, ...channels] = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text) ?? [];
  return channels.length === 3 ? (channels.map((hex) => Number.parseInt(hex, 16)) as unknown as Color) : null;
}

export function formatColor(color: Color): string {
  return `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

/** Mixes two colors. `share` is the share of the second one, from 0 to 1. */
export function mixColors(first: Color, second: Color, share: number): Color {
  return first.map((channel, index) =>
    Math.round(channel + (second[index]! - channel) * share),
  ) as unknown as Color;
}

/** The contrast ratio of two colors as WCAG 2 defines it, from 1 to 21. */
export function contrastOf(first: Color, second: Color): number {
  const [light, dark] = [luminanceOf(first), luminanceOf(second)].sort((left, right) => right - left);
  return (light! + 0.05) / (dark! + 0.05);
}

/** The lowest contrast that WCAG 2 accepts for a text (level AA). */
export const MIN_CONTRAST = 4.5;

export const BLACK: Color = [0, 0, 0];
export const WHITE: Color = [255, 255, 255];

/** Mixes a color with another one until its contrast to each of `others` is enough. */
export function withContrast(
  color: Color,
  toward: Color,
  othersOf: (color: Color) => readonly Color[],
  least = MIN_CONTRAST,
): Color {
  for (let share = 0; share < 1; share += 0.02) {
    const mixed = mixColors(color, toward, share);
    if (othersOf(mixed).every((other) => contrastOf(mixed, other) >= least)) return mixed;
  }
  return toward;
}

function luminanceOf(color: Color): number {
  const [red, green, blue] = color.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}
