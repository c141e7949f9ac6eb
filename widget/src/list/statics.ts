// The static members in which the classes of lists differ by their kinds.
import { type CSSResult, type PropertyDeclaration, type PropertyDeclarations, unsafeCSS } from 'lit';
import { boardStyles } from '../board/board.styles.ts';
import { listStyles } from './list.styles.ts';
import type { ListKind } from './list-kind.ts';
import { narrowStyles } from './narrow.styles.ts';

/** The styles of a list with those of its columns. */
export function stylesOf(columns: string): CSSResult[] {
  return [boardStyles, listStyles, columns, narrowStyles].map((text) => unsafeCSS(text));
}

/** The properties of a list's conditions. An attribute has the words of its property: `amount-cents`. */
export function propertiesOf({
  property,
  conditions,
}: Pick<ListKind<never, never>, 'property' | 'conditions'>): PropertyDeclarations {
  const declare = (name: string): [string, PropertyDeclaration] => [
    name,
    {
      attribute: name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      ...(name.endsWith('Cents') && { type: Number }),
    },
  ];
  return Object.fromEntries([property, ...conditions].map(declare));
}
