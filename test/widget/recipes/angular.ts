import '@psa/checkout/define';
import { Component, CUSTOM_ELEMENTS_SCHEMA, Input, signal } from '@angular/core';
import type { PsaCheckoutEventMap } from '@psa/checkout';

@Component({
  selector: 'shop-pay',
  schemas: [CUSTOM_ELEMENTS_SCHEMA],
  template: `
    <psa-checkout
      [attr.endpoint]="endpoint"
      [attr.token]="token"
      [customer]="{ externalId: 'u-17' }"
      (psa-paid)="paid($event)"
    >
      Pagar R$ 49,90
    </psa-checkout>
    @if (order()) {
      <p>Obrigado! Pedido {{ order() }}</p>
    }
  `,
})
export class Pay {
  @Input() endpoint = '';
  @Input() token = '';
  readonly order = signal('');

  paid({ detail }: PsaCheckoutEventMap['psa-paid']) {
    this.order.set(detail.payment.orderCode ?? '');
  }
}
