import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { environment as variables } from '../../server/src/programs/config/variables.ts';

const unit = readFileSync(new URL('../../server/systemd/psa@.service', import.meta.url), 'utf8');
/** The settings of a section, in their order; a name may occur twice. */
const settings = (section: string) =>
  [
    ...unit
      .split(`[${section}]`)[1]!
      .split(/^\[/m)[0]!
      .matchAll(/^(\w+)=(.*)$/gm),
  ].map(([, name, value]) => [name, value]);

test('The systemd unit starts the bundle with variables that the server reads', () => {
  const service = settings('Service');
  expect(service).toContainEqual(['ExecStart', '/usr/bin/node server/dist/main.js']);
  const [, environment] = service.find(([name]) => name === 'Environment')!;
  const names = environment!.split(' ').map((each) => each.split('=')[0]!);
  expect(names).toEqual(['NODE_ENV', 'PORT']);
  expect(Object.keys(variables.shape)).toContain('PORT');
});

test('The systemd unit lets the server write nothing, gain no right, and compile', () => {
  const service = settings('Service');
  for (const setting of [
    ['NoNewPrivileges', 'yes'],
    ['CapabilityBoundingSet', ''],
    ['ProtectSystem', 'strict'],
    ['RestrictAddressFamilies', 'AF_INET AF_INET6 AF_UNIX'],
    ['SystemCallFilter', '@system-service'],
  ])
    expect(service).toContainEqual(setting);
  // V8 writes machine code into memory, and runs it.
  expect(service.map(([name]) => name)).not.toContain('MemoryDenyWriteExecute');
});
