import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runNode } from '../../../server/scripts/progress.mjs';
import { findProgram } from '../../support/debian.mjs';
import { launchOptions } from '../../support/launch-options.ts';
import type { Findings } from './kit.ts';

const FOUND = new URL('../found.json', import.meta.url);
const DOCUMENT = new URL('../../../server/docs/clients.md', import.meta.url);

/** Writes what was found, with the versions of the browsers that are here, and the document that shows it. */
export async function save(findings: readonly Findings[]): Promise<void> {
  const found: Record<string, object> = JSON.parse(readFileSync(FOUND, 'utf8'));
  for (const { client, version, failed } of findings) found[client] = { version, failed: failed.join(', ') };
  const browsers = {
    Chromium: [launchOptions('browser').executablePath, '--version'],
    Firefox: [findProgram(['firefox-esr', 'firefox']) ?? 'firefox', '--version'],
    // Its programs do not say it.
    WebKit: ['dpkg-query', '--show', 'webkit2gtk-driver'],
  } as const;
  for (const [name, [program, ...args]] of Object.entries(browsers)) {
    const version = versionOf(program, args);
    if (version) found[name] = { version };
  }
  writeFileSync(FOUND, `${JSON.stringify(found, null, 2)}\n`);
  const { ok, output } = await runNode(fileURLToPath(new URL('../print.mjs', import.meta.url)), [], {
    quiet: true,
  });
  if (!ok) throw new Error(output);
  writeFileSync(DOCUMENT, output);
}

/** Some warn of what a version does not need, such as a display. */
const OPTIONS: ExecFileSyncOptionsWithStringEncoding = {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
};

/** The version that a program prints; null where it cannot be run. */
function versionOf(program: string, args: readonly string[]): string | null {
  try {
    return /\d+(?:\.\d+)+/.exec(execFileSync(program, args, OPTIONS))?.[0] ?? null;
  } catch {
    return null;
  }
}
