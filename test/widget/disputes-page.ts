import { sha256Of } from '../../widget/src/disputes/files.ts';
import type { Dispute } from '../../widget/src/disputes/operations.ts';
import type { PsaDisputes } from '../../widget/src/disputes/psa-disputes.ts';
import { act, event, openWorld, part, place, shows, words } from './board.ts';
import { NOW } from './fake-disputes.ts';
import type { WorldRequest } from './fake-payouts.ts';

// Disputes on a page, and what their tests do with them.

export const PDF = new File(['%PDF-1.7 …'], 'entrega.pdf', { type: 'application/pdf' });
export const PNG = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 1])], 'tela.png', { type: 'image/png' });

/** Places disputes; `leftSeconds` is the time that is left of the first one. */
export async function disputes(
  given: WorldRequest = {},
  properties: Partial<PsaDisputes> = {},
  leftSeconds?: number,
) {
  const world = await openWorld(given);
  if (leftSeconds)
    await act(world.token, {
      dispute: {
        number: 1,
        values: {
          evidenceDueAt: new Date(NOW + leftSeconds * 1_000).toISOString(),
          evidenceDueInSeconds: leftSeconds,
        },
      },
    });
  return { element: await place('psa-disputes', world, properties), world };
}

/** Opens the first of some disputes on a page that answers requests. */
export async function answering(given: WorldRequest = { disputeCount: 1 }) {
  const placed = await disputes(given, { details: true, actions: 'defence accept' });
  await open(placed.element, 'dispute-1');
  return placed;
}

export async function open(element: PsaDisputes, id: string): Promise<void> {
  element.shadowRoot!.querySelector<HTMLElement>(`tr[data-id="${id}"] td`)!.click();
  await shows(() => part(element, 'details')?.matches('[open]'), true);
}

export const story = (element: PsaDisputes) =>
  element.shadowRoot!.querySelector<HTMLTextAreaElement>('#story')!;
export const problem = (element: PsaDisputes) => words(element.shadowRoot!.querySelector('#answer'));
export const dueCell = (element: PsaDisputes) => element.shadowRoot!.querySelector('td.due');

export function write(element: PsaDisputes, text: string): void {
  story(element).value = text;
  story(element).dispatchEvent(new Event('input'));
}

export function choose(element: PsaDisputes, ...files: File[]): void {
  const input = element.shadowRoot!.querySelector<HTMLInputElement>('input[type=file]')!;
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  input.files = transfer.files;
  input.dispatchEvent(new Event('change'));
}

/** Chooses files that the dispute takes. */
export async function attach(element: PsaDisputes, ...files: File[]): Promise<void> {
  choose(element, ...files);
  await shows(() => chosen(element), files.length);
}

/** A PDF by its bytes alone, which are its own. */
export function named(name: string): File {
  return new File([`%PDF-1.7 ${name}`], name);
}

/** Files as the server lists them once they are uploaded. */
export function uploads(...files: File[]): Promise<Dispute['files']> {
  return Promise.all(
    files.map(async (file) => ({
      fileId: `dsf_${file.name}`,
      name: file.name,
      sha256: await sha256Of(file),
    })),
  );
}
export const hint = (element: PsaDisputes) => words(element.shadowRoot!.querySelector('.defence .hint'));
export const names = (element: PsaDisputes) =>
  [...element.shadowRoot!.querySelectorAll('.file bdi')].map((name) => words(name));
export const chosen = (element: PsaDisputes) => element.shadowRoot!.querySelectorAll('.file').length;

export async function close(element: PsaDisputes): Promise<void> {
  const closed = event(part(element, 'details')!, 'close');
  part(element, 'close-button')!.click();
  await closed;
}

export const button = (element: PsaDisputes, text: string) =>
  [...element.shadowRoot!.querySelectorAll<HTMLElement>('[part=filter]')].find(
    (each) => words(each) === text,
  )!;

export const rows = (element: PsaDisputes) =>
  [...element.shadowRoot!.querySelectorAll('tbody tr')].map((row) => words(row));
