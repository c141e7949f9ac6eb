import type { ArgBuilder, InputShapeFromFields } from '@pothos/core';
import { builder } from '../api/graphql/builder.ts';
import { inFilter, periodFields, withReplaced } from '../api/graphql/filters.ts';
import type { Types } from '../api/graphql/mutations.ts';
import { readFilter } from '../kernel/list-filter.ts';
import { WebhookDeliveryStatusEnum } from './enums-schema.ts';
import type { WebhookDeliveryFilter } from './model.ts';

const WebhookDeliveryFilterInput = builder.inputType('WebhookDeliveryFilter', {
  description: 'Conditions of a list of webhook deliveries. A list with dates is in the order of createdAt.',
  fields: (t) =>
    ({
      status: t.field({ type: [WebhookDeliveryStatusEnum] }),
      event: t.stringList({
        description: 'Selects deliveries of any of these events, each by its name: card_payment.paid.',
      }),
      reference: t.string({ description: 'Selects the delivery with this webhookId.' }),
      ...periodFields(t, 'created', 'deliveries made'),
    }) satisfies { [Member in keyof WebhookDeliveryFilter]-?: unknown },
});

/** The arguments of the list and of its updates. */
export const filterArguments = (arg: ArgBuilder<Types>) => ({
  filter: arg({ type: WebhookDeliveryFilterInput }),
  status: arg({ type: [WebhookDeliveryStatusEnum], deprecationReason: inFilter('status') }),
});

/** Reads the arguments as the port has them. @throws ValidationError naming the argument */
export function filterOf({ filter, status }: InputShapeFromFields<ReturnType<typeof filterArguments>>) {
  return readFilter<WebhookDeliveryFilter>(withReplaced(filter, { status }));
}
