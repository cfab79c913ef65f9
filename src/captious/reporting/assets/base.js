// Helpers for all parts of the report: the state in the address, and controls.

// State --------------------------------------------------------------------------------------------------------------

// State that a link can set: #view=images&image=42&q=dog. Default values are left out.
const DEFAULTS = {
  view: 'leaderboard', image: '', system: '', caption: '0', tab: '', metric: '', board: '', turn: '', q: '', within: 'captions', whole: '', sort: 'order',
  of: '', minus: '', up: '', least: '', most: '', top: '', differ: '', empty: '', hallucinated: '', long: '', wins: '', a: '', b: '', theme: '', set: '', learned: '', boxes: '', facet: '', data: '',
};
const state = { ...DEFAULTS };
const listeners = [];

// Links are untrusted: invalid values are ignored.
const isNumber = (value) => /^\d{1,6}$/.test(value), isSystem = (value) => isNumber(value) && Number(value) < systems.length;
const VALID = { system: isSystem, of: isSystem, minus: isSystem, a: isSystem, b: isSystem, caption: isNumber, least: isNumber, most: isNumber, top: isNumber, data: (value) => isNumber(value) && Number(value) < sets.length, facet: (value) => isGroup(value) };

function readAddress() {
  const values = { ...DEFAULTS };
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    if (Object.hasOwn(DEFAULTS, key) && (!Object.hasOwn(VALID, key) || VALID[key](value))) values[key] = value;
  }
  // #image=42 alone opens that image.
  if (values.image && !/(^#|&)view=/.test(location.hash)) values.view = 'images';
  Object.assign(state, values);
}

function address() {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) if (value !== DEFAULTS[key]) parameters.set(key, value);
  return `#${parameters}`;
}

// Change the state. With `push`, the browser's back button undoes the change.
function go(changes, push = false) {
  let changed = false;
  for (const [key, value] of Object.entries(changes)) {
    const text = value === true ? '1' : value === false || value === null || value === undefined ? '' : String(value);
    if (state[key] !== text) { state[key] = text; changed = true; }
  }
  if (!changed) return;
  try {
    history[push ? 'pushState' : 'replaceState'](null, '', address());
  } catch {
    // A page in a notebook has no address.
  }
  notify();
}

function notify() { for (const listener of listeners) listener(); }

addEventListener('hashchange', () => { readAddress(); notify(); });
addEventListener('popstate', () => { readAddress(); notify(); });

// Controls -----------------------------------------------------------------------------------------------------------

let serial = 0;
const unique = (name) => `${name}-${(serial += 1)}`;

function select(label, options, value, onchange, attributes = {}) {
  const id = unique('choose');
  const element = h('select', { id, onchange: () => onchange(element.value), ...attributes });
  const make = ([key, text]) => h('option', { value: key, selected: key === value }, shorten(String(text), 60));
  for (const option of options) {
    if (Array.isArray(option)) element.append(make(option));
    else element.append(h('optgroup', { label: option.label }, option.options.map(make)));
  }
  element.value = value;
  const box = h('span.control', null, h('label', { for: id }, label), element);
  box.field = element;
  return box;
}

function check(label, value, onchange) {
  const id = unique('check');
  const element = h('input', { type: 'checkbox', id, onchange: () => onchange(element.checked) });
  element.checked = value;
  const box = h('span.check', null, element, h('label', { for: id }, label));
  box.field = element;
  return box;
}

const announcer = h('div.spoken', { role: 'status', 'aria-live': 'polite' });
function announce(text) { announcer.textContent = text; }
