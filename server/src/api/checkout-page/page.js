// Comfort on pages that work without a script: the card's digits in groups, errors before the form is submitted, the PIX
// code copied by a button, a countdown, no second click, the status of a payment as it changes, a receipt to print and to
// share, and a popup that closes itself.

import { brandOf, groupExpiry, groupNumber, isAmex, isComplete, monthFirst } from './card.js';

const page = document.documentElement;

/** The address of this page. A language that the address names stays in it. */
const language = new URLSearchParams(location.search).get('lang');
const named = language === null ? '' : `lang=${encodeURIComponent(language)}`;
const ownAddress = `${location.pathname}${named && `?${named}`}`;

/** Names in the window's own storage: whether it is a popup, and the page whose form was submitted. */
const POPUP = 'psa-checkout-popup';
const PAYING = 'psa-checkout-paying';

startForm();
startCopying();
startReceipt();
startCountdown();
followPayment();
closeWhenPaid();

// Going back shows the page as it was left, with its old countdown and hidden attempt.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

// ── The card form ───────────────────────────────────────────────────────────────────────────────

function startForm() {
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector('[data-form]'));
  if (!form) return;
  // The form may be the response to a post: from here on a reload requests the page and submits nothing again.
  history.replaceState(null, '', ownAddress);
  rememberPopup();
  const fields = {
    number: inputOf(form, 'number'),
    holder: inputOf(form, 'holder'),
    expiry: inputOf(form, 'expiry'),
    cvv: inputOf(form, 'cvv'),
  };

  form.noValidate = true;
  const summary = /** @type {HTMLElement | null} */ (document.querySelector('[data-summary]'));
  if (summary) summary.focus();
  // On a touch screen the focus would open a keyboard over the amount. A link to a field, or the payer, may have set it already.
  else if (matchMedia('(pointer: fine)').matches && document.activeElement === document.body)
    fields.number.focus({ preventScroll: true });

  const formatNumber = () => {
    const digits = regroup(fields.number, groupNumber);
    const brand = brandOf(digits);
    const label = /** @type {HTMLElement} */ (form.querySelector('[data-brand]'));
    label.textContent = brand;
    fields.cvv.maxLength = isAmex(digits) ? 4 : 3;
  };
  fields.number.addEventListener('input', formatNumber);
  fields.expiry.addEventListener('input', (event) => {
    const isDeletion = event instanceof InputEvent && event.inputType.startsWith('delete');
    fields.expiry.value = monthFirst(fields.expiry.value);
    // Without its zero, a month keeps to its slash: 1/29 is no 12/9.
    if (!isDeletion && /^\d\//.test(fields.expiry.value)) fields.expiry.value = `0${fields.expiry.value}`;
    regroup(fields.expiry, groupExpiry);
  });
  fields.cvv.addEventListener('input', () => regroup(fields.cvv, (digits) => digits));
  for (const field of Object.values(fields)) field.addEventListener('input', () => showError(field, ''));

  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (
    document.querySelectorAll('[data-fill]')
  )) {
    button.hidden = false;
    button.addEventListener('click', () => {
      fields.number.value = button.dataset.fill ?? '';
      fields.holder.value = 'MARIA TESTE';
      fields.expiry.value = `12/${String((new Date().getFullYear() + 3) % 100).padStart(2, '0')}`;
      fields.cvv.value = '123';
      formatNumber();
      for (const field of Object.values(fields)) showError(field, '');
      /** @type {HTMLElement} */ (form.querySelector('[type=submit]')).focus();
    });
  }

  let isSent = false;
  // Another device may pay the order while this form is open: it then says so in place of the form.
  pollUntil(
    ({ state }) => isSent || state === 'paid_elsewhere' || state === 'order_refunded',
    () => isSent || location.replace(ownAddress),
    // The countdown asks at the end of its time, too.
    4_000,
  );
  // The declined cards before this one: the page tells by it what became of this one.
  const { value: attempt } = inputOf(form, 'attempt');
  const follow = () =>
    location.replace(`${location.pathname}?seguir=1&recusas=${attempt}${named && `&${named}`}`);
  form.addEventListener('submit', (event) => {
    if (isSent) return event.preventDefault();
    const wrong = Object.values(fields).filter((field) =>
      showError(field, problemOf(field, fields.number.value)),
    );
    if (wrong[0]) {
      event.preventDefault();
      wrong[0].focus();
      return;
    }
    isSent = true;
    rememberPaying();
    const release = showBusy(form);
    // The shop's address may redirect elsewhere, which Chromium's form-action does not let a form do: the card
    // has been charged, so the script leads the payer on. Other violations are of extensions of the browser.
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
      if (effectiveDirective === 'form-action') follow();
    });
    // The response was lost, or the payer has stopped the page: the server knows the status of the payment. If it
    // still waits for a card, the form can be sent again; a form that has reached it charges once, however often it
    // is sent.
    const proceed = (/** @type {Status} */ { state }) => {
      if (state !== 'form') return follow();
      isSent = false;
      release();
    };
    setTimeout(() => pollUntil(() => true, proceed), 12_000);
  });

  const close = /** @type {HTMLButtonElement | null} */ (form.querySelector('[data-close]'));
  if (close && isPopup()) {
    close.hidden = false;
    close.addEventListener('click', closeWindow);
  }
}

/** @param {HTMLFormElement} form @param {string} name */
function inputOf(form, name) {
  return /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
}

/**
 * Writes a field's digits in groups and leaves the caret after the same digit. Returns the digits.
 * @param {HTMLInputElement} field @param {(digits: string) => string} group
 */
function regroup(field, group) {
  const caret = field.selectionStart ?? field.value.length;
  const digitsBefore = field.value.slice(0, caret).replace(/\D/g, '').length;
  const isAtEnd = caret === field.value.length;
  const digits = field.value.replace(/\D/g, '');
  const grouped = group(digits);
  if (grouped !== field.value) {
    field.value = grouped;
    let position = 0;
    for (let seen = 0; seen < digitsBefore && position < grouped.length; position++)
      if (/\d/.test(grouped[position] ?? '')) seen++;
    if (isAtEnd) position = grouped.length;
    if (document.activeElement === field) field.setSelectionRange(position, position);
  }
  return digits;
}

/** The reason why a field cannot be submitted, in the server's own words; empty if it can. @param {HTMLInputElement} field @param {string} number */
function problemOf(field, number) {
  const value = field.value.trim();
  if (value === '') return field.dataset.missing ?? '';
  return isComplete(field.name, value, number) ? '' : (field.dataset.invalid ?? '');
}

/** @param {HTMLInputElement} field @param {string} message */
function showError(field, message) {
  const error = /** @type {HTMLElement} */ (document.getElementById(`${field.id}-error`));
  error.textContent = message;
  error.hidden = message === '';
  if (message) field.setAttribute('aria-invalid', 'true');
  else field.removeAttribute('aria-invalid');
  return message !== '';
}

/** Returns what shows the form as it was. @param {HTMLFormElement} form */
function showBusy(form) {
  const button = /** @type {HTMLElement} */ (form.querySelector('[type=submit]'));
  const label = /** @type {HTMLElement} */ (button.querySelector('[data-label]'));
  const text = label.textContent;
  button.setAttribute('aria-disabled', 'true');
  label.textContent = button.dataset.busy ?? '';
  form.setAttribute('aria-busy', 'true');
  return () => {
    button.removeAttribute('aria-disabled');
    label.textContent = text;
    form.removeAttribute('aria-busy');
  };
}

// ── The PIX code ────────────────────────────────────────────────────────────────────────────────

function startCopying() {
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (
    document.querySelectorAll('[data-copy]')
  ))
    startCopyingOf(button);
}

/** @param {HTMLButtonElement} button */
function startCopyingOf(button) {
  const code = /** @type {HTMLTextAreaElement} */ (document.getElementById(button.dataset.copy ?? ''));
  const label = /** @type {HTMLElement} */ (button.querySelector('[data-label]'));
  const note = /** @type {HTMLElement} */ (button.parentElement?.querySelector('[data-copy-note]'));
  const live = /** @type {HTMLElement | null} */ (document.querySelector('[data-live]'));
  const text = label.textContent;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  button.hidden = false;
  if (live) live.hidden = false;
  code.addEventListener('focus', () => code.select());
  button.addEventListener('click', async () => {
    clearTimeout(timer);
    // Emptied before, so that the same words are spoken again.
    note.textContent = '';
    try {
      await navigator.clipboard.writeText(button.dataset.copiedText ?? code.value);
      label.textContent = button.dataset.copied ?? '';
      button.dataset.done = '';
      note.textContent = button.dataset.copiedNote ?? '';
      timer = setTimeout(() => {
        label.textContent = text;
        delete button.dataset.done;
      }, 4_000);
    } catch {
      // Browsers refuse this without https, in a frame, or after a denial: the payer copies the selected text.
      code.focus();
      code.select();
      note.textContent = button.dataset.selected ?? '';
    }
  });
}

// ── The receipt ─────────────────────────────────────────────────────────────────────────────────

function startReceipt() {
  const actions = /** @type {HTMLElement | null} */ (document.querySelector('[data-receipt]'));
  if (!actions) return;
  actions.hidden = false;
  actions.querySelector('[data-print]')?.addEventListener('click', () => window.print());
  const share = /** @type {HTMLButtonElement} */ (actions.querySelector('[data-share]'));
  if (typeof navigator.share !== 'function') return;
  share.hidden = false;
  share.addEventListener('click', () => {
    const title = share.dataset.share ?? '';
    // The shared content is text alone: the page's address would show anybody what the payer has bought.
    const lines = [...document.querySelectorAll('.receipt > div')].map(
      (line) =>
        `${line.querySelector('dt')?.textContent ?? ''}: ${line.querySelector('dd')?.textContent ?? ''}`,
    );
    // Rejects if the payer changes their mind.
    navigator.share({ title, text: [title, ...lines].join('\n') }).catch(() => undefined);
  });
}

// ── Time ────────────────────────────────────────────────────────────────────────────────────────

/** The seconds before the end at which the time is spoken, and the attributes with the words. */
const SPOKEN = /** @type {const} */ ([
  [300, 'fiveMinutes'],
  [60, 'oneMinute'],
]);

function startCountdown() {
  const countdown = /** @type {HTMLElement | null} */ (document.querySelector('[data-countdown]'));
  if (!countdown) return;
  const digits = /** @type {HTMLElement} */ (countdown.querySelector('.digits'));
  const note = /** @type {HTMLElement} */ (document.querySelector('[data-countdown-note]'));
  // Counted from the server's remaining time: the payer's clock may be wrong, and may be corrected meanwhile.
  let endsAt = performance.now() + Number(countdown.dataset.seconds) * 1000;
  let last = Number(countdown.dataset.seconds) + 1;
  let isAsking = false;
  // The page asks at the end of the time, soon at first and then less often: the server may be down.
  let askAt = 0;
  let delayMs = 1_000;

  function show() {
    const seconds = Math.max(0, Math.ceil((endsAt - performance.now()) / 1000));
    const days = seconds > 86_400 ? Math.floor(seconds / 86_400) : 0;
    const hours = Math.floor(seconds / 3600) - 24 * days;
    const minutes = Math.floor((seconds % 3600) / 60);
    const two = (/** @type {number} */ number) => String(number).padStart(2, '0');
    const before = days > 0 ? `${days} d ${two(hours)}:` : hours > 0 ? `${hours}:` : '';
    digits.textContent = `${before}${before ? two(minutes) : minutes}:${two(seconds % 60)}`;
    countdown?.classList.toggle('countdown-short', seconds <= 120);
    // A late timer may leave a second out. After a longer sleep the words would be wrong.
    for (const [limit, name] of SPOKEN)
      if (last > limit && seconds <= limit && seconds > limit - 5)
        note.textContent = note.dataset[name] ?? '';
    last = seconds;
    if (seconds > 0) delayMs = 1_000;
    else if (performance.now() >= askAt) {
      askAt = performance.now() + delayMs;
      delayMs = Math.min(delayMs * 1.3, 8_000);
      void ask('status');
    }
  }

  /** @param {string} address */
  async function ask(address) {
    if (isAsking) return;
    isAsking = true;
    const news = await status(address);
    isAsking = false;
    if (!news) return;
    endsAt = performance.now() + news.secondsLeft * 1000;
    // While the form is being submitted, its response says more than this.
    if (!isChanged(news) || document.querySelector('[data-form][aria-busy]')) return;
    if (news.state === 'expired') note.textContent = note.dataset.expired ?? '';
    location.replace(page.dataset.follow ?? ownAddress);
  }

  setInterval(show, 1000);
  // The countdown may stop while a device sleeps, and the payment may have been made elsewhere, as in the bank's app.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void ask('status?voltou=1');
  });
}

// ── A payment that is under way ─────────────────────────────────────────────────────────────────

function followPayment() {
  const { follow } = page.dataset;
  if (follow) pollUntil(isChanged, () => location.replace(follow));
}

/** Whether the payment is no longer as the page shows it. @param {Status} news */
function isChanged({ state, version }) {
  const { dataset } = page;
  return state !== dataset.state || (version !== undefined && String(version) !== dataset.version);
}

/**
 * Asks for the state, soon at first and then less often, and only while somebody can see the page.
 * @param {(news: Status) => boolean} isReached @param {(news: Status) => void} then
 */
function pollUntil(isReached, then, delayMs = 1_000) {
  setTimeout(async () => {
    const news = document.visibilityState === 'visible' ? await status('status') : null;
    if (news && isReached(news)) then(news);
    else pollUntil(isReached, then, Math.min(delayMs * 1.3, 8_000));
  }, delayMs);
}

/** @typedef {{ status: string, state: string, secondsLeft: number, version?: number }} Status */

/** @param {string} address @returns {Promise<Status | null>} */
async function status(address) {
  try {
    const response = await fetch(`${location.pathname}/${address}`);
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

// ── The window ──────────────────────────────────────────────────────────────────────────────────

/**
 * The opener is gone on purpose, and a window may lose its name on the way here. A popup is still recognized by its
 * missing toolbar, or because the form was the first page in it.
 */
function rememberPopup() {
  if (window.name === 'psa-checkout' || !window.toolbar.visible || history.length === 1)
    remember(POPUP, 'yes');
}

function isPopup() {
  return window.name === 'psa-checkout' || !window.toolbar.visible || recall(POPUP) === 'yes';
}

function rememberPaying() {
  remember(PAYING, location.pathname);
}

/** Closes the window after a payment in this window alone: a payer who returns to a receipt wants to read it. */
function closeWhenPaid() {
  if (page.dataset.state !== 'paid' || recall(PAYING) !== location.pathname) return;
  remember(PAYING, '');
  if (isPopup() && document.querySelector('[data-closable=yes]')) setTimeout(closeWindow, 1_200);
}

/** Closes the window, which browsers allow only where a script has opened it; elsewhere the page says so. */
function closeWindow() {
  window.close();
  setTimeout(() => {
    const line = /** @type {HTMLElement | null} */ (document.querySelector('[data-closable]'));
    if (line) line.hidden = false;
  }, 300);
}

/** @param {string} key @param {string} value */
function remember(key, value) {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    // Storage is off: the window's name and its toolbar have to suffice.
  }
}

/** @param {string} key */
function recall(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}
