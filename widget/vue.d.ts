import type { PsaCheckout, PsaCheckoutAttributes, PsaCheckoutEventMap } from '@psa/checkout';
import type { HTMLAttributes, PublicProps } from 'vue';

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type Listeners = {
  [Name in keyof PsaCheckoutEventMap as `on${Capitalize<Camel<Name>>}`]?: (
    event: PsaCheckoutEventMap[Name],
  ) => void;
};

type PsaCheckoutProps = {
  [Name in keyof PsaCheckoutAttributes as Camel<Name>]?: PsaCheckoutAttributes[Name];
} & Listeners &
  Omit<HTMLAttributes, keyof Listeners> &
  PublicProps;

declare module 'vue' {
  interface GlobalComponents {
    // The shape by which a template's types are found; `ref` gives the element itself.
    'psa-checkout': new () => PsaCheckout & { $props: PsaCheckoutProps };
  }
}
