import fc from 'fast-check';

const SURROGATES = { first: 0xd800, last: 0xdfff };

/**
 * Text of any code points except lone surrogates. The library's own `unit: 'binary'` first lists all code points, which
 * takes a second.
 */
export const anyText = fc.oneof(
  // Texts that are known to be dangerous, such as `__proto__`, are included.
  fc.string(),
  fc.string({
    unit: fc
      .integer({ min: 0, max: 0x10ffff })
      .filter((point) => point < SURROGATES.first || point > SURROGATES.last)
      .map((point) => String.fromCodePoint(point)),
  }),
);
