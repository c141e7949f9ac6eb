import type { z } from 'zod';
import {
  type Administration,
  createAccountInput,
  createKeyInput,
  listKeysInput,
  listTokensInput,
  noInput,
  revokeKeyInput,
  revokeTokenInput,
  type TokenOverview,
  updateAccountInput,
} from '../../access/keys.ts';
import { messageFor } from '../../api/http/json-input.ts';
import { importStoreInput, type StoreAdministration } from '../../catalogue/store/model.ts';
import { type PaymentError, ValidationError } from '../../kernel/errors.ts';
import { type RecordsAdministration, restoredInput } from '../../kernel/records.ts';
import { checkUpstreamInput, type UpstreamChecker } from '../../kernel/upstream-check.ts';
import {
  pauseTokenInput,
  resumeTokenInput,
  type TokenAdministration,
} from '../../money-in/card-payments/tokens/model.ts';
import { creditLtcInput, type LtcAdministration, listUnmatchedInput } from '../../money-in/ltc/model.ts';
import { type Doubts, settleDoubtInput } from '../../requests/model.ts';
import {
  listEndpointsInput,
  listWebhooksInput,
  testWebhookInput,
  type WebhookAdministration,
  webhookInput,
} from '../../webhooks/managed.ts';
import { type Verifier, verifyInput } from '../verify/model.ts';
import {
  type ArchiveSource,
  openArchiveInput,
  readArchiveInput,
  reportArchiveInput,
} from './archive/source.ts';
import { beginErasureInput, type ErasureSteps, endErasureInput, stepErasureInput } from './erasure/steps.ts';

/** The operations of the psa command, in its own process or in a running server. */
export type OperationName = keyof typeof OPERATIONS;

/** The operations that are a command by themselves: the others are steps of one. */
export type CommandOperation = Exclude<OperationName, `${'archive' | 'erasure'}.${string}`>;

interface Operation {
  /** Returns the error of an invalid input, or null. */
  check(input: unknown): ValidationError | null;
  perform(administration: Managed, input: unknown): Promise<object>;
}

/** The services that the operations call. */
export type Managed = Administration &
  TokenOverview &
  TokenAdministration &
  LtcAdministration &
  Doubts &
  StoreAdministration &
  RecordsAdministration &
  WebhookAdministration &
  ArchiveSource &
  Verifier &
  ErasureSteps &
  UpstreamChecker;

const OPERATIONS = {
  'keys.create': operation(createKeyInput, (administration, input) => administration.createKey(input)),
  'keys.list': operation(listKeysInput, (administration, input) => administration.listKeys(input)),
  'keys.revoke': operation(revokeKeyInput, (administration, input) => administration.revokeKey(input)),
  'accounts.create': operation(createAccountInput, (administration, input) =>
    administration.createAccount(input),
  ),
  'accounts.list': operation(noInput, (administration) => administration.listAccounts()),
  'accounts.set': operation(updateAccountInput, (administration, input) =>
    administration.updateAccount(input),
  ),
  'doubts.list': operation(noInput, (administration) => administration.listDoubts()),
  'doubts.settle': operation(settleDoubtInput, (administration, input) => administration.settleDoubt(input)),
  restored: operation(restoredInput, (administration, input) => administration.restored(input)),
  'store.import': operation(importStoreInput, (administration, input) => administration.importStore(input)),
  'tokens.pause': operation(pauseTokenInput, (administration, input) => administration.pauseToken(input)),
  'tokens.resume': operation(resumeTokenInput, (administration, input) => administration.resumeToken(input)),
  'ltc.list': operation(listUnmatchedInput, (administration, input) =>
    administration.listUnmatchedLtc(input),
  ),
  'ltc.credit': operation(creditLtcInput, (administration, input) => administration.creditLtc(input)),
  'upstream.check': operation(checkUpstreamInput, (administration, input) =>
    administration.checkUpstream(input),
  ),
  'tokens.list': operation(listTokensInput, (administration, input) => administration.listTokens(input)),
  'tokens.paused': operation(noInput, (administration) => administration.listPausedTokens()),
  'webhooks.endpoints': operation(listEndpointsInput, (administration, input) =>
    administration.listEndpoints(input),
  ),
  'webhooks.list': operation(listWebhooksInput, (administration, input) =>
    administration.listWebhooks(input),
  ),
  'webhooks.show': operation(webhookInput, (administration, input) => administration.showWebhook(input)),
  'webhooks.redeliver': operation(webhookInput, (administration, input) =>
    administration.redeliverWebhook(input),
  ),
  'webhooks.test': operation(testWebhookInput, (administration, input) => administration.testWebhook(input)),
  'archive.open': operation(openArchiveInput, (administration, input) => administration.openArchive(input)),
  'archive.report': operation(reportArchiveInput, (administration, input) =>
    administration.reportArchive(input),
  ),
  'archive.read': operation(readArchiveInput, (administration, input) => administration.readArchive(input)),
  verify: operation(verifyInput, (administration, input) => administration.verify(input)),
  'erasure.begin': operation(beginErasureInput, (administration, input) =>
    administration.beginErasure(input),
  ),
  'erasure.step': operation(stepErasureInput, (administration, input) => administration.stepErasure(input)),
  'erasure.end': operation(endErasureInput, (administration, input) => administration.endErasure(input)),
  'tokens.revoke': operation(revokeTokenInput, (administration, input) => administration.revokeToken(input)),
};

function operation<Schema extends z.ZodType>(
  schema: Schema,
  perform: (administration: Managed, input: z.output<Schema>) => Promise<object>,
): Operation {
  const refusal = ({ issues }: z.ZodError) =>
    new ValidationError(issues.map(({ path, message }) => ({ path: path.join('.'), message })));
  return {
    check(input) {
      const { error } = schema.safeParse(input, { error: messageFor });
      return error ? refusal(error) : null;
    },
    async perform(administration, input) {
      const { success, data, error } = schema.safeParse(input, { error: messageFor });
      if (!success) throw refusal(error);
      return perform(administration, data);
    },
  };
}

/** Finds an operation by its name; null if there is none. */
export function findOperation(name: unknown): Operation | null {
  return typeof name === 'string' && Object.hasOwn(OPERATIONS, name)
    ? OPERATIONS[name as OperationName]
    : null;
}

/** The most mistakes that a refusal names: a file may have thousands. */
const MAX_NAMED = 10;

/** The message of a refusal on the command line: each field is named by its option, or by its row in the file. */
export function describeRefusal(error: PaymentError): string {
  if (!(error instanceof ValidationError)) return error.message;
  const named = error.fields
    .slice(0, MAX_NAMED)
    .map(({ path, message }) => `${describeField(path)} ${message}`.trim());
  const more = error.fields.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function describeField(path: string): string {
  const [, row, field] = /^products\.(\d+)(?:\.(.+))?$/.exec(path) ?? [];
  if (row !== undefined) return `row ${Number(row) + 1}${field === undefined ? '' : `, ${field}:`}`;
  const [name = path] = path.replace(/^input\./, '').split('.');
  return OPTIONS[name] ?? path;
}

const OPTIONS: Record<string, string> = {
  accountId: '--account',
  law: '--law',
  permissions: '--permission',
  name: '--name',
  color: '--color',
  logo: '--logo',
  id: 'the id',
  made: '--made',
  token: 'the token',
  minutes: '--minutes',
  after: '--after',
  products: 'the file',
  since: '--since',
  webhookId: 'the id',
  status: '--status',
  event: 'the event',
  endpointId: '--endpoint',
  reference: '--reference',
  month: '--month',
  email: '--email',
  document: '--document',
  phone: '--phone',
  pixKey: '--pix-key',
  customer: '--customer',
  requestedBy: '--requested-by',
  responseStatus: '--response-status',
};
