import { html, render } from 'lit';

/**
 * Asks for the key of the session again, before something that costs money. Null if the user has thought better of it, or
 * has left the page that asks, by which `leaving` is aborted.
 */
export function askForKey(what: string, leaving: AbortSignal): Promise<string | null> {
  const dialog = document.createElement('dialog');
  dialog.className = 'card key-dialog';
  dialog.setAttribute('aria-labelledby', 'key-dialog-title');
  let key: string | null = null;
  const confirm = (event: SubmitEvent) => {
    event.preventDefault();
    key = dialog.querySelector('input')!.value.trim() || null;
    if (key !== null) dialog.close();
  };
  const form = html`<form @submit=${confirm}>
    <h2 id="key-dialog-title">${what}</h2>
    <div class="field">
      <label for="key-again">Chave de API desta sessão</label>
      <input id="key-again" type="password" required autocomplete="off" spellcheck="false" maxlength="300" />
    </div>
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
      resolve(key);
    });
  });
}
