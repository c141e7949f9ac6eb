// The types that the package exports beside the element.
import type { Texts } from './locales/texts.ts';

export type { BoardPhase as DisputesPhase } from '../board/board-host.ts';
export type { Answerable, PageAnswer } from '../board/page-request.ts';
export type {
  CheckoutConnection as DisputesConnection,
  CheckoutError as DisputesError,
} from '../checkout-state.ts';
export type { Transport } from '../follow/transport.ts';
export type { PsaDisputesAttributes } from './attributes.ts';
export type { AcceptRequest, DefenceRequest, PsaDisputesEventMap } from './events.ts';
export type {
  Dispute,
  DisputedSale,
  DisputeFilter,
  DisputeReason,
  DisputeSort,
  DisputeStatus,
} from './operations.ts';

/** The element's texts. */
export type DisputesLabels = Texts;
