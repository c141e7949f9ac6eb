import { z } from 'zod';
import { instant } from '../../kernel/instant.ts';
import { cents } from '../../kernel/money.ts';
import { answeredWord } from '../../kernel/text.ts';
import { SHOWN_STATUSES } from './model.ts';

/** A test payment, or one that was created as such, in the REST interface; the document does not show its fields. */
export const testPaymentWire = z
  .object({
    id: z.string(),
    valueCents: cents,
    status: answeredWord(SHOWN_STATUSES).meta({
      description: 'A test payment is pending, and counts as pendingRelease, or paid, and counts as balance',
    }),
    createdAt: instant,
  })
  .meta({ id: 'TestPayment' });
