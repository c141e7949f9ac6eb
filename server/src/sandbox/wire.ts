import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
import { cents } from '../kernel/money.ts';

/** A test payment in the REST interface; the document does not show its fields. */
export const testPaymentWire = z
  .object({
    id: z.string(),
    valueCents: cents,
    status: z
      .enum(['pending', 'paid'])
      .meta({ description: 'A pending one counts as pendingRelease, a paid one as balance' }),
    createdAt: instant,
  })
  .meta({ id: 'TestPayment' });
