import { type RestOperation, restOperation } from '../../api/http/rest.ts';
import { PreconditionError } from '../../kernel/errors.ts';
import type { OwnWallet, WalletService } from './model.ts';
import { walletToWire, walletWire } from './wire.ts';

/** The wallet in the REST interface (the document's 4.3 and 4.5). */
export function createWalletRoutes({ wallet }: { wallet: WalletService<OwnWallet> }): RestOperation[] {
  return [
    restOperation({
      method: 'GET',
      path: '/v1/wallet',
      operationId: 'getWallet',
      summary: 'The balance of the account and what of it can be withdrawn',
      description: 'With a test key the balance is simulated from test payments.',
      tag: 'Wallet',
      section: '4.3',
      right: 'wallet.read',
      answers: { 200: { description: 'The wallet', schema: walletWire } },
      async handle({ caller }) {
        return { status: 200, body: walletToWire(await wallet.read(caller.tenant)) };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/sandbox/wallet',
      operationId: 'getSandboxWallet',
      summary: 'The simulated balance',
      tag: 'Sandbox',
      section: '4.5',
      answers: { 200: { description: 'The wallet', schema: walletWire } },
      errors: { 403: 'A live key: the sandbox takes test keys alone' },
      async handle({ caller: { tenant } }) {
        if (tenant.environment !== 'sandbox')
          throw new PreconditionError('ONLY_IN_SANDBOX', 'The sandbox takes test keys alone');
        return { status: 200, body: walletToWire(await wallet.read(tenant)) };
      },
    }),
  ];
}
