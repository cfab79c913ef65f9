// One image: picture, references, captions with scores as bars, and explanations.

// The image of the link, or else the first of the list.
function imageNumber() {
  return state.image === '' ? images.first : data.number.get(state.image) ?? -1;
}

function picture(i, kind = '') {
  const address = data.pictures && data.pictures[i];
  if (!address) return null;
  return h(`img${kind}`, { src: address, alt: '', loading: 'lazy', decoding: 'async', referrerpolicy: 'no-referrer', onerror: (event) => { event.target.hidden = true; } });
}

// The picture of an image with the boxes of its objects, or a line that says how to add pictures.
function photo(i) {
  const image = picture(i, '.picture');
  if (!image) return h('p.note', null, meta.pictures ? 'There is no picture of this image.' : ['No pictures in this report: ', h('code', null, 'captious report … --images FOLDER'), ' adds them.']);
  const [width, height, boxes] = (data.boxes && data.boxes[i]) || [null, null, []], box = h('div.photo', null, image);
  if (!boxes.length) return box;
  const draw = () => { if (image.naturalWidth) box.append(overlay(width ?? image.naturalWidth, height ?? image.naturalHeight, boxes, new Set(namedObjects(i).keys()))); };
  if (image.complete && image.naturalWidth) draw(); else image.addEventListener('load', draw);
  const shown = check('boxes', state.boxes !== 'off', (value) => go({ boxes: value ? '' : 'off' }));
  box.classList.toggle('bare', state.boxes === 'off');
  return h('div', null, box, h('p.note.boxkey', null, shown, h('span', null, 'solid: named by a caption; dashed: by none')));
}

function overlay(width, height, boxes, named) {
  const size = Math.max(width, height) / 30;
  return s('svg.boxes', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `Boxes of ${plural(boxes.length, 'object')}: ${[...new Set(boxes.map(([name]) => name))].join(', ')}` },
    boxes.map(([name, x, y, w, h_]) => s(named.has(name) ? 'g.said' : 'g.unsaid', null, s('rect', { x, y, width: Math.max(0, w), height: Math.max(0, h_) }), s('text', { x: x + size * 0.2, y: y + size, 'font-size': size }, shorten(name, 24)))));
}

// Objects of an image that captions name → the systems that name them.
function namedObjects(i) {
  const names = new Map();
  systems.forEach((_, k) => { for (const caption of (images.objects && images.objects.systems[k] && images.objects.systems[k][i]) || []) for (const mention of caption) names.set(mention[1], (names.get(mention[1]) || new Set()).add(k)); });
  return names;
}

// Objects that are in the image, each with the systems that name it.
function objectList(i) {
  if (!images.objects || !images.objects.given) return null;
  const there = images.objects.images[i] || [], names = namedObjects(i);
  if (!there.length) return null;
  return h('div', null, h('h4', null, 'Objects in the image'), h('ul.chips', null, there.map((kind) => h(names.has(kind) ? 'li.chip.matched' : 'li.chip.missed', null, words(kind), h('span.spoken', null, names.has(kind) ? ', named by' : ', named by none'), [...(names.get(kind) || [])].map((k) => h('span', { title: systems[k].name }, sign(k), h('span.spoken', null, systems[k].name)))))));
}

// A caption. Long ones are folded.
function quoted(text) {
  if (text === '') return h('p.quote.empty', null, 'empty caption');
  if (text.length <= 600) return words(text, 'p', { class: 'quote' });
  const rest = h('details', null, h('summary', null, `${count(text.length)} characters`), words(text, 'p', { class: 'quote long' }));
  return h('div', null, words(shorten(text, 400), 'p', { class: 'quote' }), rest);
}

function scoreBars(system, image, k) {
  return h('ul.bars', { 'aria-label': 'Scores' }, perImage.map((m) => {
    const metric = metrics[m], value = captionScore(system, m, image, k);
    return h('li', { title: `${metric.name} (${senseOf(metric)}); the longer the bar, the better` }, h('span.name', null, metric.name, !metric.higher && ' ↓'), h(`span.meter.${look(system).colour}`, { 'aria-hidden': 'true' }, h('span', { css: { width: filled(m, value) } })), h('span.number', null, number(value, metric.format === '.4f' ? '.3f' : metric.format)));
  }));
}

function card(system, image, k, several) {
  const chosen = state.system === String(system) && Number(state.caption) === k;
  const text = captionsOf(system, image)[k];
  return h('li.card', { class: chosen ? 'card chosen' : 'card' },
    h('div.who', null, named(system, systems[system].name, 30), several > 0 && h('small', null, ` ${k + 1} of ${several}`), meta.explanations.length > 0 && h('button.explain', { 'aria-expanded': chosen ? 'true' : 'false', 'data-caption': `${system}.${k}`, onclick: () => { go(chosen ? { system: '' } : { system, caption: k }); focusOn(`[data-caption="${system}.${k}"]`); } }, h('span.spoken', null, `${systems[system].name}: `), chosen ? 'Close' : 'Why this score?')),
    text === undefined ? h('p.none', null, 'The caption is not in the file.') : quoted(text),
    scoreBars(system, image, k),
    chosen && explain(h('section.why', { 'aria-label': 'Why this score' }), system, image, k));
}

const detail = {
  element: h('section.detail', { 'aria-label': 'Image', tabindex: -1 }),
  drawn: '',
  update(step) {
    const i = imageNumber();
    const key = [i, state.system, state.caption, state.tab, state.learned, state.boxes].join(' ');
    document.body.classList.toggle('looking', i >= 0 && state.image !== '');
    if (key === this.drawn) return;
    this.drawn = key;
    if (i < 0) {
      replace(this.element, state.image === '' ? h('p.hint', null, 'No image matches. Choose “All images” above to start again.') : h('p.hint', null, 'There is no image ', words(shorten(state.image, 80)), ' in this report.'));
      return;
    }
    const cards = systems.flatMap((_, system) => {
      const texts = captionsOf(system, i), n = texts.length || (isDefined(scoreOf(system, perImage[0] ?? 0, i)) ? 1 : 0);
      return Array.from({ length: Math.min(n, 30) }, (_one, k) => card(system, i, k, n > 1 ? n : 0));
    });
    const references = referencesOf(i);
    replace(this.element,
      h('div.bar', null,
        h('button.back', { onclick: () => { go({ image: '' }, true); focusOn('.list'); } }, '← All images'),
        h('h3', null, 'Image ', words(shorten(data.ids[i], 60))),
        h('span.room'),
        h('button', { onclick: () => step(-1), 'aria-label': 'Previous image' }, '↑'),
        h('button', { onclick: () => step(1), 'aria-label': 'Next image' }, '↓'),
        h('button', { onclick: () => copy(location.href, 'Link') }, 'Copy link')),
      photo(i),
      objectList(i),
      references.length > 0 && h('div.refs', null, h('h4', null, plural(references.length, 'reference')), h('ol', null, references.slice(0, 60).map((text) => h('li', null, quoted(text))))),
      h('h4', null, 'Captions'),
      h('ul.cards', null, cards));
  },
};

// Explanations that the report has data for, and that apply to the caption.
const tabsOf = (caption) => WHY.filter((one) => meta.explanations.includes(one.needs || one.name) && (!one.applies || !caption || one.applies(caption)));

// Panel below a caption, with one tab per explanation that the report has data for.
function explain(target, system, image, k) {
  const shown = tabsOf({ system, image, k });
  const current = shown.find((one) => one.name === state.tab) || shown[0];
  if (!current || captionsOf(system, image)[k] === undefined) return replace(target, h('p.none', null, 'There is nothing to explain this score with.'));
  const panel = h('div.panel', { role: 'tabpanel', id: 'why-panel', 'aria-labelledby': `why-${current.name}`, tabindex: 0 });
  const choose = (one) => { go({ tab: one.name }); focusOn(`#why-${one.name}`); };
  const onkeydown = (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    choose(shown[(shown.indexOf(current) + move + shown.length) % shown.length]);
  };
  panel.setAttribute('aria-busy', 'true');
  current.render(panel, { system, image, k }).then(() => panel.removeAttribute('aria-busy'));
  return replace(target,
    h('div.tabs', { role: 'tablist', 'aria-label': 'Explanations', onkeydown }, shown.map((one) => h('button', { role: 'tab', id: `why-${one.name}`, 'aria-selected': one === current ? 'true' : 'false', 'aria-controls': 'why-panel', tabindex: one === current ? 0 : -1, onclick: () => choose(one) }, one.title))),
    panel);
}
