import type { PropertyDeclarations } from 'lit';
import {
  createElement,
  type ReactElement,
  type Ref,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';

type Values = Record<string, unknown>;

/** The class of an element, with what Lit knows of its properties. */
interface ElementType<Element> {
  new (): Element;
  properties: PropertyDeclarations;
}

/** A property that is not in the markup: with one of them an element finds its payment, and reports it. */
const LATE = /^(token|paymentToken|orderCode|resumeKey|disabled)$/;

/** The endpoint in the markup of an element without one, which would look for the last payment of the tab. */
const NO_ENDPOINT = 'none';

/**
 * Creates the component of an element. Where a server has rendered the page, React neither sets an element's properties nor listens to its
 * events (react/react#35446), and a defined element may report a stored payment before the page is hydrated. So the markup has a
 * disabled element without a token, which reports nothing. Once the component is committed, it listens first, and sets the
 * properties then.
 */
export function createComponent<Element extends HTMLElement>(tag: string, type: ElementType<Element>) {
  return function Component({ ref, ...props }: Values & { ref?: Ref<Element> }): ReactElement {
    const { properties, handlers, others } = divide(props, type);
    const element = useRef<Element>(null);
    const committed = useRef<{ properties: Values; handlers: Values; heard: Set<string> }>(null);
    // The markup stays as the server has rendered it; the properties change.
    const [attributes] = useState(() => attributesOf(properties, type));

    useImperativeHandle(ref, () => element.current as Element, []);
    useLayoutEffect(() => {
      const target = element.current;
      if (!target) return;
      const last = committed.current ?? { properties: {}, handlers, heard: new Set() };
      committed.current = last;
      last.handlers = handlers;
      for (const name of Object.keys(handlers)) {
        if (last.heard.has(name)) continue;
        last.heard.add(name);
        target.addEventListener(name, (event) => (last.handlers[name] as EventListener | undefined)?.(event));
      }
      for (const name of Object.keys({ ...last.properties, ...properties }))
        if (!(name in last.properties) || !Object.is(last.properties[name], properties[name]))
          Object.assign(target, { [name]: properties[name] });
      last.properties = properties;
    });
    return createElement(tag, { ...others, ...attributes, ref: element });
  };
}

/** Divides props into the element's properties, the handlers of its events, and React's own props. */
function divide(props: Values, { properties: known }: ElementType<unknown>) {
  // Those that differ in the markup are set in any case.
  const properties: Values = { endpoint: undefined, ...('disabled' in known && { disabled: false }) };
  const handlers: Values = {};
  const others: Values = {};
  for (const [key, value] of Object.entries(props)) {
    const name = key.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    if (name in known) {
      // A prop that the page leaves out keeps the element's own value.
      if (value !== undefined) properties[name] = value;
    } else if (key.startsWith('onpsa-')) handlers[key.slice(2)] = value;
    else others[key] = value;
  }
  return { properties, handlers, others };
}

function attributesOf(values: Values, { properties }: ElementType<unknown>): Values {
  const attributes: Values = { endpoint: NO_ENDPOINT, ...('disabled' in properties && { disabled: true }) };
  for (const [name, value] of Object.entries(values)) {
    const { attribute = name } = properties[name] ?? {};
    if (value !== undefined && typeof attribute === 'string' && !LATE.test(name))
      attributes[attribute] = value;
  }
  return attributes;
}
