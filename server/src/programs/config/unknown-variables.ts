import leven from 'leven';
import { environment } from './variables.ts';

/** The most edits (an insertion, a deletion or a replaced character each) between a known name and a misspelt one. */
const MOST_EDITS = 2;

/** The variables that Kubernetes sets in each container for a service named psa, or `psa-…`. */
const OF_KUBERNETES = /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT_\d+_(TCP|UDP)(_\w+)?$/;

/** The unknown names of set variables that begin with `PSA_`, in any case of letters. */
export interface UnknownVariables {
  /** Names within two edits of a known one, each with the sentence that refuses it. */
  misspelt: string[];
  /** All other unknown names: they have no effect here, but may be of another program. */
  unknown: string[];
}

/**
 * Finds the unknown names. A misspelt variable would leave its setting at the default, such as a server open that
 * `PSA_TRUSTED_DOCUMENTS_ONLY` was to close.
 *
 * @param values the variables that are set
 */
export function findUnknownVariables(values: Readonly<Record<string, string>>): UnknownVariables {
  const known = Object.keys(environment.shape).filter((name) => name.startsWith('PSA_'));
  const found: UnknownVariables = { misspelt: [], unknown: [] };
  for (const [name, value] of Object.entries(values)) {
    if (!/^psa_/i.test(name) || known.includes(name)) continue;
    const meant = known.find((other) => leven(name.toUpperCase(), other) <= MOST_EDITS);
    if (meant) found.misspelt.push(`${name} is not known: did you mean ${meant}?`);
    else if (!OF_KUBERNETES.test(name) && !/^(tcp|udp):\/\//.test(value)) found.unknown.push(name);
  }
  return found;
}
