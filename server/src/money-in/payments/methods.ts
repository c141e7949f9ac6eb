import { PreconditionError } from '../../kernel/errors.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { notConfigured, type AccountSettings as PixSettings } from '../pix/model.ts';

/** The methods of a payment of this family. */
export const PAYMENT_METHODS = ['pix', 'ltc'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

/** The settings of an account that payments use. */
export interface AccountSettings extends PixSettings {
  ltcEnabled: boolean;
}

/** The rules in which methods differ. A method without them does not compile. */
interface MethodRules {
  /** The method’s name in messages. */
  label: string;
  /** Whether a test key creates such payments. */
  isInSandbox: boolean;
  isEnabled: (settings: AccountSettings) => boolean;
  /** The reason why a merchant cannot refund it; null if refunds are sent as a PIX. */
  notRefundableReason: string | null;
  /** Whether the payer's bank can claim the money back. */
  isDisputable: boolean;
}

const METHODS: Readonly<Record<PaymentMethod, MethodRules>> = {
  pix: {
    label: 'PIX',
    isInSandbox: true,
    isEnabled: ({ pixEnabled }) => pixEnabled,
    notRefundableReason: null,
    isDisputable: true,
  },
  ltc: {
    label: 'LTC',
    isInSandbox: false,
    isEnabled: ({ ltcEnabled }) => ltcEnabled,
    notRefundableReason: 'LTC cannot be sent back: it has no address of its payer',
    // No bank sent the money, so none can claim it back.
    isDisputable: false,
  },
};

/** @throws PreconditionError if payments by the method are not created with a test key */
export function assertInEnvironment(method: PaymentMethod, environment: Environment): void {
  const { label, isInSandbox } = METHODS[method];
  if (environment === 'sandbox' && !isInSandbox)
    throw new PreconditionError('NOT_IN_SANDBOX', `${label} payments are not available in sandbox`);
}

/** @throws PreconditionError if the account takes no payments by the method, or is asked with a test key */
export function assertMethodAvailable(
  method: PaymentMethod,
  environment: Environment,
  settings: AccountSettings,
): void {
  assertInEnvironment(method, environment);
  if (!METHODS[method].isEnabled(settings)) throw notConfigured(METHODS[method].label);
}

/**
 * The reason why a payment by the method cannot be refunded. Null if the method permits refunds, or is
 * unknown.
 */
export function whyNotRefundable(method: PaymentMethod | 'unknown'): string | null {
  return method === 'unknown' ? null : METHODS[method].notRefundableReason;
}

export function isDisputable(method: PaymentMethod): boolean {
  return METHODS[method].isDisputable;
}
