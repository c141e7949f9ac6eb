import '../../src/board/define.ts';
import { THEMES } from '../gallery/themes.ts';
import { chosen, makeElement, nextTask, openView, saveView } from '../gallery/view.ts';
import { loadAccount } from '../shared/account.ts';
import { assignScript, ENDPOINT } from './fake-server.ts';
import { type BoardState, type BoardTag, ELEMENTS, PROPERTIES, statesOf } from './states.ts';

/** An element of a board, as far as all are alike. */
type Board = HTMLElement & {
  readonly phase: string;
  locale: string | undefined;
  updateComplete: Promise<boolean>;
};

const gallery = document.querySelector<HTMLElement>('#gallery');
/** The elements on the page, and the theme and the element that were chosen for them. */
let boards: Board[] = [];
let shown = '';

openView(() => void show());
// The page of a shop asks its server; here all that is requested is done.
for (const name of ['psa-refund-request', 'psa-defence-request', 'psa-accept-request'])
  gallery?.addEventListener(name, (event) =>
    (event as CustomEvent<{ respondWith(answer: undefined): void }>).detail.respondWith(undefined),
  );
void loadAccount();
void show();

/** Shows what is chosen: the states of one element in one theme, for those of all would keep a phone busy for seconds. */
async function show(): Promise<void> {
  saveView();
  document.documentElement.dataset.appearance = chosen('appearance');
  if (gallery) {
    gallery.dataset.width = chosen('width');
    gallery.dir = chosen('direction');
  }
  const name = `${chosen('theme')} ${chosen('element')}`;
  if (name !== shown) {
    shown = name;
    gallery?.removeAttribute('data-ready');
    boards = [];
    await placeAll(chosen('theme'), chosen('element') as BoardTag, () => name === shown);
    if (name !== shown) return;
  }
  for (const board of boards) board.locale = chosen('language');
  gallery?.setAttribute('data-ready', '');
}

/** Places an element of each state, and waits until all have reached their states. */
async function placeAll(theme: string, tag: BoardTag, isChosen: () => boolean): Promise<void> {
  const [title = '', summary = ''] = THEMES[theme] ?? [];
  const section = makeElement('section', `theme theme-${theme}`);
  section.setAttribute('aria-labelledby', 'section-title');
  const heading = makeElement('h2', '', `${ELEMENTS[tag]}: ${title}`);
  heading.id = 'section-title';
  const frames = makeElement('div', 'frames boards');
  section.append(heading, makeElement('p', 'summary', summary), frames);
  gallery?.replaceChildren(section);
  const arrivals: Promise<unknown>[] = [];
  for (const state of statesOf(tag)) {
    await nextTask();
    if (!isChosen()) return;
    arrivals.push(place(frames, theme, tag, state));
  }
  await Promise.all(arrivals);
  section.setAttribute('data-placed', '');
}

/** Places an element, and resolves once it has reached its state. */
async function place(frames: HTMLElement, theme: string, tag: BoardTag, state: BoardState): Promise<void> {
  const { name, title, script = {}, phase = 'ready', properties } = state;
  const frame = makeElement('div', 'frame');
  frame.dataset.state = name;
  const board = document.createElement(tag) as unknown as Board;
  const token = `${theme}-${tag}-${name}`;
  assignScript(token, script);
  const given = { endpoint: ENDPOINT, token, transport: 'sse', locale: chosen('language') };
  Object.assign(board, given, PROPERTIES[tag], properties?.[tag]);
  board.className = 'board';
  const slotted = makeElement('h4', '', ELEMENTS[tag]);
  slotted.slot = 'heading';
  board.append(slotted);
  boards.push(board);
  const arrived = new Promise<void>((resolve) =>
    board.addEventListener('psa-phase-change', () => board.phase === phase && resolve()),
  );
  frame.append(makeElement('h3', '', title), board);
  frames.append(frame);
  await arrived;
  await board.updateComplete;
}
