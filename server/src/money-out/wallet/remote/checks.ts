import { type Checks, missingOf } from '../../../upstream/checks.ts';
import { contradictsItself, readWallet } from '../wire.ts';

const NAMES = {
  balanceCents: 'balance',
  withdrawableCents: 'withdrawable',
  pendingReleaseCents: 'pendingRelease',
  disputeBlockedCents: 'disputeBlocked',
  cryptoBalanceLitoshi: 'cryptoBalanceLtc',
};

export const walletChecks: Checks = {
  reads: [
    {
      name: 'GET /v1/wallet',
      pathOf: () => '/v1/wallet',
      read(body, environment) {
        const wallet = readWallet(body, environment);
        const names = wallet
          ? missingOf(wallet, Object.keys(NAMES)).map((name) => NAMES[name as keyof typeof NAMES])
          : Object.values(NAMES);
        const contradiction = contradictsItself(body) ? ['two figures that contradict each other'] : [];
        return { isEmpty: false, unread: [...names, ...contradiction] };
      },
    },
  ],
  features: [{ feature: 'the wallet' }],
};
