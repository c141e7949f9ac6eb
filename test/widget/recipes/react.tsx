import '@psa/checkout/define';
import type {} from '@psa/checkout/react';
import { useState } from 'react';

export function Pay({ endpoint, token }: { endpoint: string; token: string }) {
  const [order, setOrder] = useState('');
  return (
    <>
      <psa-checkout
        endpoint={endpoint}
        token={token}
        customer={{ externalId: 'u-17' }}
        onpsa-paid={({ detail }) => setOrder(detail.payment.orderCode ?? '')}
      >
        Pagar R$ 49,90
      </psa-checkout>
      {order && <p>Obrigado! Pedido {order}</p>}
    </>
  );
}
