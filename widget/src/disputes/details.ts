// The chunk of the details of `<psa-disputes>`, with the defence and the acceptance of a claim.

import { adoptStyles } from '../adopt-styles.ts';
import { arrive } from '../import-again.ts';
import {
  createDetailsPanel,
  type Details,
  type DetailsPanel,
  type DetailsParts,
  type Step,
} from '../list/details.ts';
import { styles } from './answers.styles.ts';
import { createAnswers } from './answers.ts';
import type { DisputesHost } from './disputes-host.ts';
import { texts as portuguese } from './locales/pt-BR.details.ts';
import type { Texts } from './locales/texts.ts';
import type { Dispute, DisputeEvidence, WholeDispute } from './operations.ts';

/** Creates the panel with the details of a dispute. */
export function createDetails(parts: DetailsParts<Dispute, Texts>): DetailsPanel {
  const { texts } = parts;
  const host = parts.host as DisputesHost;
  adoptStyles(host, styles);
  const renderAnswers = createAnswers({ ...parts, host }, (id) => panel.onRow(id));

  function describe(dispute: Dispute | WholeDispute): Details {
    const { status, reason, amountCents, blockedCents, of, disputeId, files, evidenceDueAt } = dispute;
    const { money, day, hour } = texts.formats;
    const due = evidenceDueAt && new Date(evidenceDueAt);
    return {
      title: texts.text('disputeOf', { amount: money(amountCents) }),
      status: [texts.text(status), status],
      facts: [
        [
          '',
          [
            [
              texts.text('due'),
              due && [`${day(due)}, ${hour(due)}`, host.leftOf(dispute)].filter(Boolean).join(' · '),
            ],
            [texts.text('blockedAmount'), money(blockedCents)],
            [texts.text('reason'), reason !== 'UNKNOWN' && texts.text(reason)],
            [texts.text('sale'), of?.description],
            [texts.text('payer'), of?.customer?.name],
            [texts.text('saleCode'), host.saleOf(dispute)],
            [texts.text('disputeNumber'), disputeId],
            [texts.text('files'), files.map(({ name }) => name).join('\n')],
          ],
        ],
      ],
      history: historyOf(dispute),
      actions: renderAnswers(dispute),
    };
  }

  function historyOf(dispute: Dispute | WholeDispute): Step[] {
    const { status, evidence, createdAt, closedAt, acceptedAt, files } = dispute;
    const submissions: readonly Partial<DisputeEvidence>[] =
      'submissions' in dispute ? dispute.submissions : evidence;
    return [
      { at: createdAt, words: texts.text('opened') },
      ...submissions.map(({ submittedAt, text, documents = [], fileIds = [] }) => ({
        at: submittedAt,
        words: texts.text('submitted'),
        note: [
          text,
          ...documents.map(({ url, description }) => [description, url].filter(Boolean).join(': ')),
          ...files.filter(({ fileId }) => fileIds.includes(fileId)).map(({ name }) => name),
        ]
          .filter(Boolean)
          .join('\n'),
      })),
      ...(closedAt
        ? [
            {
              at: closedAt,
              words: texts.text(acceptedAt ? 'acceptedByYou' : status === 'FORGIVEN' ? 'LOST' : status),
            },
          ]
        : []),
      ...(status === 'FORGIVEN' ? [{ at: null, words: texts.text(status) }] : []),
    ];
  }

  const panel = createDetailsPanel<Dispute, WholeDispute, Texts>(parts, {
    describe,
    portuguese,
  });
  return panel;
}

arrive('disputes.details', { createDetails });
