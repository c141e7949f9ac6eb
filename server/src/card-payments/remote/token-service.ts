import { methodsOf } from '../../checkout/model.ts';
import { notOffered } from '../../upstream/responses.ts';
import { type CheckoutTokenService, grantOf } from '../tokens/model.ts';

/** Checkout tokens in front of another service, where no PIX payment can be started. */
export function createRemoteCheckoutTokens(service: CheckoutTokenService): CheckoutTokenService {
  return {
    ...service,
    async create(tenant, keyId, input) {
      if (methodsOf(grantOf(input)).includes('pix')) throw notOffered('Paying by PIX');
      return service.create(tenant, keyId, input);
    },
  };
}
