import { NotFoundError } from '../../kernel/errors.ts';
import type { Collection, Committer } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import type { Beneficiaries } from '../pix/collections.ts';
import { writesOfPix } from '../pix/collections.ts';
import { type AccountSettings, assertPixEnabled, type RegisterCode } from '../pix/model.ts';
import { type ChangeReceived, createPixCreation, createPixReads } from '../pix/service.ts';
import { pixCharges } from './collections.ts';
import { chargeDecisions, decideCreate } from './decisions.ts';
import {
  CHARGE_ID_FORM,
  type ChargeFilter,
  type ChargeListFilter,
  type ChargeService,
  listFilterOf,
  newChargeId,
  normalRequest,
  type StoredCharge,
} from './model.ts';
import { chargeTable } from './store.ts';

/** Accounts with the settings that charges use; the slice that owns accounts provides them. */
type AccountCollection = Collection<AccountSettings & { id: string }>;

/** The port on Postgres: every change is a command to the committer, every read is one statement. */
export function createChargeService({
  database,
  committer,
  accounts,
  beneficiaries,
  register,
  changeReceived,
}: {
  database: Database;
  committer: Committer;
  accounts: AccountCollection;
  beneficiaries: Beneficiaries;
  register: RegisterCode<StoredCharge>;
  changeReceived: ChangeReceived<StoredCharge>;
}): ChargeService<StoredCharge> {
  const reads = createPixReads<StoredCharge, ChargeFilter, ChargeListFilter>({
    database,
    family: pixCharges,
    table: chargeTable,
    idName: 'chargeId',
    idForm: CHARGE_ID_FORM,
    filterOf: listFilterOf,
  });
  const { create } = createPixCreation({
    committer,
    family: pixCharges,
    register,
    operation: 'createCharge',
  });

  return {
    ...reads,

    async create(tenant, { idempotencyKey, ...given }) {
      const input = normalRequest(given);
      const ids = input.splits.map(({ subaccountId }) => subaccountId);
      const { resource, replayed } = await create(tenant, {
        idempotencyKey,
        input,
        newId: (digits) => newChargeId(ids.length > 0 ? 'split' : 'single', digits),
        read: (reader) =>
          Promise.all([
            reader.load(accounts, tenant.accountId),
            ...ids.map((subaccountId) => beneficiaries.read(reader, subaccountId)),
          ]),
        assertPossible: (state) => assertPixEnabled(state.need(accounts, tenant.accountId)),
        decide(state, chargeId) {
          if (ids.some((subaccountId) => beneficiaries.balanceOf(state, subaccountId) === null))
            throw new NotFoundError('Subaccount not found');
          const change = decideCreate(input, {
            chargeId,
            environment: tenant.environment,
            account: state.need(accounts, tenant.accountId),
            balances: state.balances,
            now: state.now,
          });
          return { resource: change.resource, writes: writesOfPix(pixCharges, change) };
        },
      });
      return { charge: resource, replayed };
    },

    async cancel(tenant, chargeId) {
      reads.assertId(chargeId);
      const canceled = await changeReceived(tenant, chargeId, (charge, state) =>
        chargeDecisions.decideCancel(charge, { environment: tenant.environment, ...state }),
      );
      if (!canceled) throw new NotFoundError('Charge not found');
      return { charge: canceled.resource, replayed: canceled.replayed };
    },
  };
}
