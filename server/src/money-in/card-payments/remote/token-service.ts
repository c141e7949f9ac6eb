import { type ListRange, withoutExtra } from '../../../kernel/list-range.ts';
import type { Behind } from '../../../kernel/records.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { assertTaken } from '../../../upstream/families.ts';
import { methodsOf } from '../../checkout/model.ts';
import { type CheckoutTokenService, grantOf, type PausedToken, pauseOfRestore } from '../tokens/model.ts';

/** Checkout tokens in front of another service, where PIX payments start if the operator has named their family. */
export function createRemoteCheckoutTokens(
  service: CheckoutTokenService,
  {
    families,
    records,
    mintedAt,
    listPaused,
  }: Pick<UpstreamDependencies, 'families'> & {
    records: { behind(): Promise<Behind | null> };
    /** Reads when a token was minted; null if there is none. */
    mintedAt: (tokenId: string) => Promise<Date | null>;
    /** Lists the pauses in force, with those of records that went back. */
    listPaused: (
      tenant: Tenant,
      range: ListRange,
      behind: Behind,
    ) => Promise<{ position: number; pause: PausedToken }[]>;
  },
): CheckoutTokenService {
  return {
    ...service,
    async create(tenant, keyId, input) {
      if (methodsOf(grantOf(input)).includes('pix')) assertTaken({ families }, 'payments', 'Paying by PIX');
      return service.create(tenant, keyId, input);
    },
    /**
     * A token from before a restore may have sold already, in records that are missing: it takes no payments
     * until that is known.
     */
    async pauseOf(tokenId) {
      const behind = await records.behind();
      const minted = behind && (await mintedAt(tokenId));
      return minted && minted < behind.until ? pauseOfRestore(behind) : service.pauseOf(tokenId);
    },
    async pausesOf(tokenIds) {
      const behind = await records.behind();
      if (!behind) return service.pausesOf(tokenIds);
      const [stored, minted] = await Promise.all([
        service.pausesOf(tokenIds),
        Promise.all(tokenIds.map(mintedAt)),
      ]);
      return stored.map((pause, index) => {
        const at = minted[index];
        return at && at < behind.until ? pauseOfRestore(behind) : pause;
      });
    },
    async listPaused(tenant, range) {
      const behind = await records.behind();
      if (!behind) return service.listPaused(tenant, range);
      return withoutExtra(await listPaused(tenant, { ...range, limit: range.limit + 1 }, behind), range);
    },
  };
}
