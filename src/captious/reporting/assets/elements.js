// Elements and numbers, for the report and the site.

// All text is set as text nodes and attributes. Nothing is parsed as HTML.
const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'text') element.textContent = value;
    else if (name === 'css') for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

// h('div.card', {id: 'x', onclick: f}, 'text', child, …)
function h(kind, attributes, ...children) {
  const [tag, ...classes] = kind.split('.');
  const element = document.createElement(tag || 'div');
  if (classes.length) element.className = classes.join(' ');
  return fill(element, attributes, children);
}

function s(kind, attributes, ...children) {
  const [tag, ...classes] = kind.split('.');
  const element = document.createElementNS(SVG, tag);
  if (classes.length) element.setAttribute('class', classes.join(' '));
  return fill(element, attributes, children);
}

function replace(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

// User text in isolation, so that its writing direction does not affect its surroundings.
function words(text, kind = 'bdi', attributes = {}) {
  return h(kind, { dir: 'auto', ...attributes }, text);
}

const ELLIPSIS = '…';
function shorten(text, limit) {
  if (text.length <= limit) return text;
  // Do not cut a surrogate pair in half.
  const end = text.charCodeAt(limit - 1) >= 0xd800 && text.charCodeAt(limit - 1) <= 0xdbff ? limit - 1 : limit;
  return text.slice(0, end).trimEnd() + ELLIPSIS;
}

// Numbers ------------------------------------------------------------------------------------------------------------

const isDefined = (value) => value !== null && value !== undefined && !Number.isNaN(value);

// Format a number by a Python format: .4f  ,.0f  .1%
function number(value, format = '.4f') {
  if (!isDefined(value)) return '–';
  const parts = /^([+]?)(,?)\.(\d+)([f%])$/.exec(format);
  if (!parts) return String(value);
  const digits = Number(parts[3]);
  const shown = parts[4] === '%' ? value * 100 : value;
  let text = Math.abs(shown).toFixed(digits);
  if (parts[2]) text = text.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  const zero = !/[1-9]/.test(text);
  return (shown < 0 && !zero ? '−' : parts[1] && !zero ? '+' : '') + text + (parts[4] === '%' ? ' %' : '');
}

const short = (value, digits = 3) => (isDefined(value) ? number(value, `.${digits}f`) : '–');
const count = (value) => (isDefined(value) ? number(value, ',.0f') : '–');
const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

function pValue(value) {
  if (!isDefined(value)) return '–';
  return value < 0.001 ? '< 0.001' : value.toFixed(3);
}

const mean = (values) => {
  let total = 0, n = 0;
  for (const value of values) if (isDefined(value)) { total += value; n += 1; }
  return n ? total / n : NaN;
};

// Round tick values for an axis.
function ticks(low, high, wanted = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((one) => one >= raw * 0.999);
  const values = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) values.push(Number((k * step).toPrecision(12)));
  return values;
}
