import { UnavailableError } from '../../kernel/errors.ts';
import type { PaymentService } from '../model.ts';

/** PIX payments in front of another service. */
export function createRemotePayments(): PaymentService {
  const refuse = (what: string) => {
    throw new UnavailableError(
      'NOT_OFFERED',
      `${what} is not offered by the payments service behind this server`,
    );
  };
  return {
    create: async () => refuse('Creating PIX payments'),
    startCheckout: async () => refuse('Paying by PIX'),
    find: async () => refuse('Looking a PIX payment up'),
    findMany: async (_, ids) => ids.map(() => null),
    findWithVersion: async () => refuse('Following a PIX payment'),
    list: async () => refuse('Listing PIX payments'),
    listPage: async () => refuse('Listing PIX payments'),
    count: async () => refuse('Listing PIX payments'),
  };
}
