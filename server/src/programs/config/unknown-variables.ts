import leven from 'leven';
import { environment } from './variables.ts';

/** The most edits (an insertion, a deletion or a replaced character each) between a known name and a misspelt one. */
const MOST_EDITS = 2;

/** The variables that Kubernetes sets in each container for a service named psa, or `psa-…`. */
const OF_KUBERNETES = /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT_\d+_(TCP|UDP)(_\w+)?$/;

/** Known names without `PSA_` that are long enough for a misspelt one to be recognized. */
const OTHERS = ['DATABASE_URL', 'PUBLIC_URL'];

/** The unknown names of set variables that begin with `PSA_`, in any case of letters, or are close to another known name. */
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
    if (!/^psa_/i.test(name)) {
      // It may be of another program, so that it is named and not refused.
      const isClose = (other: string) => values[other] === undefined && isMisspelt(name, other);
      if (OTHERS.some(isClose)) found.unknown.push(name);
      continue;
    }
    if (known.includes(name)) continue;
    const meant = known.find((other) => isMisspelt(name, other));
    if (meant) found.misspelt.push(`${name} is not known: did you mean ${meant}?`);
    else if (!OF_KUBERNETES.test(name) && !/^(tcp|udp):\/\//.test(value)) found.unknown.push(name);
  }
  return found;
}

function isMisspelt(name: string, known: string): boolean {
  return name !== known && leven(name.toUpperCase(), known) <= MOST_EDITS;
}
