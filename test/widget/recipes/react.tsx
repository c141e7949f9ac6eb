import { PsaCheckout } from '@psa/checkout/react';
import { useState } from 'react';

export function Pay({ endpoint, token }: { endpoint: string; token: string }) {
  const [order, setOrder] = useState('');
  return (
    <>
      <PsaCheckout
        endpoint={endpoint}
        token={token}
        customer={{ externalId: 'u-17' }}
        onpsa-paid={({ detail }) => setOrder(detail.payment.orderCode ?? '')}
      >
        Pagar R$ 49,90
      </PsaCheckout>
      {order && <p>Obrigado! Pedido {order}</p>}
    </>
  );
}
