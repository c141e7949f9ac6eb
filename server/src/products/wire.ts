import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
import { cents } from '../kernel/money.ts';

/** A product in the REST interface (the document's 2.5). */
export const productWire = z
  .object({
    id: z.string().meta({ description: '24 hex digits' }),
    name: z.string(),
    description: z.string().nullable(),
    priceCents: cents,
    createdAt: instant,
  })
  .meta({ id: 'Product' });
