import type { ArgBuilder, InputShapeFromFields } from '@pothos/core';
import { z } from 'zod';
import { builder } from '../api/graphql/builder.ts';
import { inFilter, periodFields, withReplaced } from '../api/graphql/filters.ts';
import type { Types } from '../api/graphql/mutations.ts';
import { ValidationError } from '../kernel/errors.ts';
import { detailMembers, readFilter } from '../kernel/list-filter.ts';
import { WebhookDeliveryStatusEnum } from './enums-schema.ts';
import { readStatuses, type WebhookDeliveryFilter } from './model.ts';

/** The members that name one resource. The schema is created once: its first use compiles it. */
const names = z.looseObject({ reference: detailMembers.reference, endpointId: detailMembers.reference });
const MAX_STATUSES = 20;
const isHttpStatus = (status: number) =>
  status === 0 || (status >= 2 && status <= 5) || (status >= 100 && status <= 599);

export const WebhookDeliveryFilterInput = builder.inputType('WebhookDeliveryFilter', {
  description: 'Conditions of a list of webhook deliveries. A list with dates is in the order of createdAt.',
  fields: (t) =>
    ({
      status: t.field({ type: [WebhookDeliveryStatusEnum] }),
      event: t.stringList({
        description: 'Selects deliveries of any of these events, each by its name: card_payment.paid.',
      }),
      endpointId: t.string({ description: 'Selects deliveries to the endpoint with this endpointId.' }),
      reference: t.string({
        description:
          'Selects the delivery with this webhookId, and those that report the resource with this id, such as an orderCode, a paymentId, a withdrawalId, a payout’s code or a refundId; of a payment those of its refunds, disputes and deliveries, too.',
      }),
      responseStatus: t.intList({
        description:
          'Selects deliveries whose last attempt was answered with any of these HTTP statuses, at most 20: 0 for no answer, and 2 to 5 for a whole class, as 5 for all from 500 to 599.',
      }),
      ...periodFields(t, 'created', 'deliveries made'),
    }) satisfies { [Member in Exclude<keyof WebhookDeliveryFilter, 'responseClass'>]-?: unknown },
});

/** The arguments of the list and of its updates. */
export const filterArguments = (arg: ArgBuilder<Types>) => ({
  filter: arg({ type: WebhookDeliveryFilterInput }),
  status: arg({ type: [WebhookDeliveryStatusEnum], deprecationReason: inFilter('status') }),
});

/** Reads the arguments as the port has them. @throws ValidationError naming the argument */
export function filterOf({ filter, status }: InputShapeFromFields<ReturnType<typeof filterArguments>>) {
  return readDeliveryFilter(withReplaced(filter, { status }));
}

/** @throws ValidationError naming the member, from `filter` on */
export function readDeliveryFilter(
  filter: InputShapeFromFields<ReturnType<typeof filterArguments>>['filter'],
): WebhookDeliveryFilter {
  const read = readFilter<WebhookDeliveryFilter>(filter, names);
  const { responseStatus, ...others } = read;
  if (responseStatus && (responseStatus.length > MAX_STATUSES || !responseStatus.every(isHttpStatus)))
    throw new ValidationError([
      {
        path: 'filter.responseStatus',
        message: `must have at most ${MAX_STATUSES} statuses, each 0, 2 to 5 or 100 to 599`,
      },
    ]);
  return responseStatus ? { ...others, ...readStatuses(responseStatus) } : read;
}
