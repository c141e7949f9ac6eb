import { builder, UNKNOWN } from '../../api/graphql/builder.ts';
import { LOW_STOCK } from './model.ts';

export const DeliveryKindEnum = builder.enumType('DeliveryKind', {
  description: 'The kind of content of a delivery.',
  values: {
    CODES: { value: 'codes', description: 'Codes from a stock, one for each payment.' },
    LINK: { value: 'link', description: 'One https address for all payers.' },
    TEXT: { value: 'text', description: 'One text for all payers.' },
    UNKNOWN,
  } as const,
});

export const DeliveryStockEnum = builder.enumType('DeliveryStock', {
  description: 'Whether content can be delivered at this moment.',
  values: {
    EMPTY: { value: 'empty', description: 'No code is in stock: who pays now waits for one.' },
    LOW: { value: 'low', description: `At most ${LOW_STOCK} codes are in stock.` },
    READY: {
      value: 'ready',
      description: 'A text, a link, or a larger stock; also where the upstream service does not report it.',
    },
  } as const,
});
