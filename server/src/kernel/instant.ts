import { z } from 'zod';

/** In JSON an instant as the document's 2.1.3 has it (`2026-03-02T12:00:00.000Z`), inside a Date. */
export const instant = z.codec(
  z.string().meta({ format: 'date-time', description: 'ISO 8601 in UTC, with milliseconds' }),
  z.date(),
  { decode: (text) => new Date(text), encode: (date) => date.toISOString() },
);
