import { html, nothing, render, type TemplateResult } from 'lit';

/** The terms of what is confirmed, above the key. */
type Details = TemplateResult | typeof nothing;

/**
 * Asks for the key of the session again, before something that costs money or gives power. Null if the user has
 * declined, or has left the page that asks, by which `leaving` is aborted.
 */
export async function askForKey(
  what: string,
  leaving: AbortSignal,
  details: Details = nothing,
): Promise<string | null> {
  const field = html`<div class="field">
    <label for="key-again">Chave de API desta sessão</label>
    <input id="key-again" type="password" required autocomplete="off" spellcheck="false" maxlength="300" />
  </div>`;
  const key = await ask(what, field, leaving, details);
  return key?.trim() || null;
}

/** Asks the user to confirm something that cannot be undone. */
export async function askToConfirm(
  what: string,
  leaving: AbortSignal,
  details: Details = nothing,
): Promise<boolean> {
  return (await ask(what, nothing, leaving, details)) !== null;
}

/** Opens a dialog. The result is the value of its field, an empty text if it has none, or null if it was closed. */
function ask(
  what: string,
  field: TemplateResult | typeof nothing,
  leaving: AbortSignal,
  details: Details,
): Promise<string | null> {
  if (leaving.aborted) return Promise.resolve(null);
  const dialog = document.createElement('dialog');
  dialog.className = 'card key-dialog';
  dialog.setAttribute('aria-labelledby', 'key-dialog-title');
  let given: string | null = null;
  const confirm = (event: SubmitEvent) => {
    event.preventDefault();
    given = dialog.querySelector('input')?.value ?? '';
    if (field === nothing || given.trim()) dialog.close();
    else given = null;
  };
  const form = html`<form @submit=${confirm}>
    <h2 id="key-dialog-title">${what}</h2>
    ${details} ${field}
    <p class="buttons">
      <button class="primary">Confirmar</button>
      <button type="button" class="secondary" @click=${() => dialog.close()}>Voltar</button>
    </p>
  </form>`;
  render(form, dialog);
  document.body.append(dialog);
  dialog.showModal();
  leaving.addEventListener('abort', () => dialog.close());
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(given);
    });
  });
}
