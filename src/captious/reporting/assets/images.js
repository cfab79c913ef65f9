// List of images with search, filters and sorting. Only visible rows are drawn.

const ORDERS = [['order', 'as given'], ['metric', 'score'], ['difference', 'difference of two systems'], ['disagreement', 'disagreement of metrics'], ['hallucinated', 'hallucinated objects'], ['length', 'length of captions'], ['excess', 'words beyond the longest reference']];
const SHOWN = 8;

// Filters that a preset sets; the others go back to their defaults.
const FILTERS = ['q', 'whole', 'sort', 'of', 'minus', 'up', 'least', 'most', 'top', 'differ', 'empty', 'hallucinated', 'long', 'wins'];

// Questions to start from: name, explanation, filters.
function presets() {
  const metric = metrics[chosenMetric()], worstFirst = metric.higher ? '1' : '', best = boardOrderBy(chosenMetric());
  const list = [['All images', 'All images in the order of the files', {}]];
  if (data.ids.length > 20) list.push(['Worst 20', `The 20 images with the worst mean ${metric.name}`, { sort: 'metric', up: worstFirst, top: '20' }]);
  if (best.length > 1) {
    const [a, b] = best, name = (k) => shorten(systems[k].name, 18);
    list.push([`${name(b)} beats ${name(a)}`, `Images on which the second best system is better than the best by ${metric.name}`, { sort: 'difference', of: String(b), minus: String(a), up: metric.higher ? '' : '1', wins: '1' }]);
  }
  if (perImage.length > 1 && data.ids.length > 20) list.push(['Metrics disagree', 'The 20 images about which metrics disagree most', { sort: 'disagreement', top: '20' }]);
  if (meta.explanations.includes('objects')) list.push(['Hallucinates', 'Captions that name objects that are not there', { hallucinated: '1', sort: 'hallucinated' }]);
  if (data.refs && data.texts.some(Boolean)) list.push(['Too long', 'Captions that are longer than every reference of their image', { long: '1', sort: 'excess' }]);
  return list;
}

// Systems with a value, best first.
function boardOrderBy(m) {
  const metric = metrics[m], sense = metric.higher ? -1 : 1;
  return systems.map((_, k) => k).filter((k) => isDefined(metric.values[k])).sort((a, b) => sense * (metric.values[a] - metric.values[b]) || a - b);
}

const images = {
  name: 'images',
  title: 'Images',
  rows: [],
  nodes: new Map(),
  active: 0,
  needs: () => [
    meta.pictures && block('pictures').then((pictures) => { data.pictures = pictures; }),
    meta.facets.length > 0 && block('groups').then((groups) => { data.groups = groups; }),
    meta.blocks.includes('boxes') && block('boxes').then((boxes) => { data.boxes = boxes; }),
    meta.explanations.includes('objects') && block('objects').then((objects) => { images.objects = objects || { systems: [], images: [] }; }),
  ],
  // Image that is open if the link names none.
  first: -1,

  build(section) {
    const hasTexts = data.texts.some(Boolean), hasObjects = meta.explanations.includes('objects');
    const later = (change) => { clearTimeout(this.timer); this.timer = setTimeout(() => go(change()), 60); };
    const search = h('input', { type: 'search', id: 'search', placeholder: 'dog -cat', autocomplete: 'off', spellcheck: 'false', oninput: () => later(() => ({ q: search.value })) });
    this.search = search;
    const size = (name, label) => {
      const input = h('input', { type: 'number', min: 0, id: `length-${name}`, oninput: () => later(() => ({ [name]: input.value })) });
      input.setAttribute('aria-label', label);
      return input;
    };
    this.least = size('least', 'Words at least');
    this.most = size('most', 'Words at most');
    const systemOptions = (none) => [...(none ? [['', none]] : []), ...systems.map((system, k) => [String(k), system.name])];
    this.within = select('in', [['captions', 'captions'], ...(data.refs ? [['references', 'references'], ['all', 'both']] : [])], state.within, (value) => go({ within: value }));
    this.metric = select('Scores', perImage.map((m) => [metrics[m].name, metrics[m].name]), metrics[chosenMetric()].name, (value) => go({ metric: value }));
    this.sort = select('Sort by', ORDERS.filter(([key]) => (key !== 'hallucinated' || hasObjects) && (key !== 'difference' || systems.length > 1) && (key !== 'length' || hasTexts) && (key !== 'excess' || (hasTexts && data.refs)) && (key !== 'disagreement' || perImage.length > 1)), state.sort, (value) => go({ sort: value, up: '' }));
    this.of = select('of', systemOptions('all systems'), state.of, (value) => go({ of: value }));
    this.minus = select('minus', systemOptions(), state.minus || '1', (value) => go({ minus: value }));
    this.turn = h('button.turn', { type: 'button', onclick: () => go({ up: !state.up }) });
    this.whole = check('whole words', Boolean(state.whole), (value) => go({ whole: value }));
    this.differ = check('systems differ', Boolean(state.differ), (value) => go({ differ: value }));
    this.empty = check('has an empty caption', Boolean(state.empty), (value) => go({ empty: value }));
    this.hallucinated = check('hallucinates', Boolean(state.hallucinated), (value) => go({ hallucinated: value }));
    this.long = check('longer than every reference', Boolean(state.long), (value) => go({ long: value }));
    this.wins = check('only where it is better', Boolean(state.wins), (value) => go({ wins: value }));
    this.facet = select('Group', [['', 'all'], ...meta.facets.map((facet, c) => ({ label: facet.column, options: facet.groups.map((group, g) => [`${c}.${g}`, `${group.name} (${count(group.images)})`]) }))], state.facet, (value) => go({ facet: value, image: '' }));
    this.presets = h('div.presets', { role: 'group', 'aria-label': 'Which images' });
    this.matches = h('p.matches', { role: 'status', 'aria-live': 'polite' });
    this.list = h('div.list', { role: 'listbox', tabindex: 0, 'aria-label': 'Images', onscroll: () => this.scrolled(), onkeydown: (event) => this.keyed(event) });
    this.space = h('div.space', { role: 'presentation' });
    this.list.append(this.space);
    const filters = this.filters = h('div.extra', null, hasTexts && this.whole, hasTexts && h('fieldset.control', null, h('legend', null, 'Words'), this.least, ' – ', this.most), hasTexts && systems.length > 1 && this.differ, hasTexts && this.empty, hasTexts && data.refs && this.long, hasObjects && this.hallucinated);
    this.toggle = h('button.toggle', { type: 'button', 'aria-expanded': 'false', onclick: () => this.showFilters(!filters.classList.contains('shown')) }, 'More filters');
    this.showFilters(['whole', 'least', 'most', 'differ', 'empty', 'long', 'hallucinated'].some((key) => state[key] && state.sort === 'order'));
    section.append(
      h('form.filters', { role: 'search', onsubmit: (event) => event.preventDefault() },
        h('div.line', null, this.presets),
        h('div.line', null,
          hasTexts && h('span.control.grow', null, h('label', { for: 'search' }, 'Search'), search), hasTexts && this.within, this.metric, this.sort, this.of, this.minus, this.turn, this.wins, meta.facets.length > 0 && this.facet, this.toggle),
        filters,
        h('div.line', null, this.matches, h('span.room'),
          h('p.keys', null, [['/', 'search'], ['j k', 'next, previous'], ['↑ ↓ Enter', 'in the list']].map(([keys, what]) => h('span', null, keys.split(' ').map((one) => h('kbd', null, one)), ` ${what}`))),
          h('button', { type: 'button', onclick: () => download('images.csv', 'text/csv', imagesCsv(this.rows)) }, 'CSV of these'))),
      h('div.browser', null, this.list, detail.element));
    addEventListener('resize', () => { this.measure(); this.draw(true); });
    addEventListener('keydown', (event) => {
      if (state.view !== 'images' || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
      if (event.key === '/') { event.preventDefault(); search.focus(); }
      if (event.key === 'j' || event.key === 'k') this.step(event.key === 'j' ? 1 : -1);
    });
    this.measure();
  },

  showFilters(shown) {
    this.filters.classList.toggle('shown', shown);
    this.toggle.setAttribute('aria-expanded', String(shown));
  },

  measure() {
    const size = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    this.height = Math.round((44 + Math.min(systems.length, SHOWN) * 24 + (systems.length > SHOWN ? 20 : 0)) * size);
    this.list.style.setProperty('--row', `${this.height}px`);
  },

  update() {
    const wanted = [state.q, state.within, state.whole, state.sort, state.of, state.minus, state.up, state.least, state.most, state.differ, state.empty, state.hallucinated, state.metric, state.top, state.long, state.wins, state.facet].join('\n');
    if (wanted !== this.wanted) {
      const started = performance.now();
      this.wanted = wanted;
      this.controls();
      this.drawPresets();
      this.choose(this.objects);
      this.list.scrollTop = 0;
      // Keep the open image visible.
      if (this.rows[this.active] === imageNumber()) this.reveal(this.active);
      this.draw(true);
      document.documentElement.dataset.search = (performance.now() - started).toFixed(1);
    }
    const place = this.rows.indexOf(imageNumber());
    if (place >= 0 && place !== this.active) { this.active = place; this.reveal(place); }
    this.draw(true);
    detail.update((step) => this.step(step));
  },

  controls() {
    const metric = metrics[chosenMetric()];
    if (document.activeElement !== this.search) this.search.value = state.q;
    if (document.activeElement !== this.least) this.least.value = state.least;
    if (document.activeElement !== this.most) this.most.value = state.most;
    this.within.field.value = state.within;
    this.metric.field.value = metric.name;
    this.sort.field.value = state.sort;
    this.of.field.value = state.of;
    this.facet.field.value = state.facet;
    this.minus.field.value = state.minus || '1';
    for (const name of ['whole', 'differ', 'empty', 'hallucinated', 'long', 'wins']) this[name].field.checked = Boolean(state[name]);
    this.of.hidden = !['metric', 'difference', 'disagreement', 'hallucinated', 'length'].includes(state.sort) || systems.length < 2;
    this.minus.hidden = this.wins.hidden = state.sort !== 'difference';
    const [first, second] = state.sort === 'order' ? ['First to last', 'Last to first'] : ['Highest first', 'Lowest first'];
    this.turn.textContent = `${state.up ? '↑' : '↓'} ${state.up ? second : first}`;
    this.turn.setAttribute('aria-label', `Order: ${state.up ? second : first}. Turn around`);
  },

  drawPresets() {
    const isChosen = (filters) => FILTERS.every((key) => state[key] === (filters[key] ?? DEFAULTS[key]));
    replace(this.presets, presets().map(([name, about, filters]) => h('button', { type: 'button', title: about, 'aria-pressed': isChosen(filters) ? 'true' : 'false',
      onclick: () => { go({ ...Object.fromEntries(FILTERS.map((key) => [key, DEFAULTS[key]])), ...filters, image: '' }); this.search.value = ''; [...this.presets.children].find((one) => one.textContent === name)?.focus(); } }, words(name, 'span'))));
  },

  // Sort key of each image.
  keyOf(objects) {
    const metric = chosenMetric(), of = state.of === '' ? null : Number(state.of);
    if (state.sort === 'metric') return levels(metric, of);
    if (state.sort === 'difference') {
      const a = column(of ?? 0, metric), b = column(Number(state.minus || 1), metric);
      return everywhere((i) => a[i] - b[i]);
    }
    if (state.sort === 'disagreement') return disagreement(of);
    if (state.sort === 'hallucinated' && objects) return hallucinations(objects, of);
    if (state.sort === 'excess') return excess();
    if (state.sort === 'length') return of === null ? cached('longest', () => everywhere((i) => Math.max(0, ...lengths()[i]))) : everywhere((i) => Math.max(0, ...captionsOf(of, i).map((_, c) => wordsOf(of, i, c).length)));
    return null;
  },

  choose(objects) {
    const test = matcher(state.q, state.within, Boolean(state.whole));
    const least = state.least === '' ? -Infinity : Number(state.least), most = state.most === '' ? Infinity : Number(state.most);
    const sized = least > -Infinity || most < Infinity ? lengths() : null, empty = state.empty ? lengths() : null;
    const apart = state.differ ? differing() : null, hallucinated = state.hallucinated && objects ? hallucinations(objects, null) : null;
    const key = this.keyOf(objects), sense = state.up ? 1 : -1, long = state.long ? excess() : null;
    const won = state.wins && state.sort === 'difference' ? (metrics[chosenMetric()].higher ? 1 : -1) : 0;
    const facet = state.facet ? state.facet.split('.').map(Number) : null;
    let rows = [];
    for (let i = 0; i < data.ids.length; i += 1) {
      if (facet && !data.groups[facet[0]][i].includes(facet[1])) continue;
      if (won && !(won * key[i] > 0)) continue;
      if (long && !(long[i] > 0)) continue;
      if (apart && !apart[i]) continue;
      if (hallucinated && !hallucinated[i]) continue;
      if (empty && !empty[i].includes(0)) continue;
      if (sized && !sized[i].some((n) => n >= least && n <= most)) continue;
      if (test(i)) rows.push(i);
    }
    // Images without a value come last in both directions.
    if (key) rows.sort((a, b) => isDefined(key[b]) - isDefined(key[a]) || (isDefined(key[a]) ? sense * (key[a] - key[b]) : 0) || a - b);
    else if (state.up) rows.reverse();
    if (state.top) rows = rows.slice(0, Number(state.top));
    this.rows = rows;
    this.key = key;
    this.first = rows[0] ?? -1;
    this.active = Math.max(0, rows.indexOf(imageNumber()));
    this.matches.textContent = rows.length === data.ids.length ? plural(rows.length, 'image') : `${count(rows.length)} of ${plural(data.ids.length, 'image')}`;
    this.space.style.height = `${rows.length * this.height}px`;
  },

  scrolled() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => { this.pending = null; this.draw(false); });
  },

  draw(anew) {
    const height = this.list.clientHeight || 600, first = Math.max(0, Math.floor(this.list.scrollTop / this.height) - 3);
    const last = Math.min(this.rows.length, Math.ceil((this.list.scrollTop + height) / this.height) + 3);
    if (anew) this.space.style.height = `${this.rows.length * this.height}px`;
    for (const [n, node] of this.nodes) if (anew || n < first || n >= last) { node.remove(); this.nodes.delete(n); }
    for (let n = first; n < last; n += 1) {
      if (this.nodes.has(n)) continue;
      const node = this.row(n);
      this.nodes.set(n, node);
      this.space.append(node);
    }
    if (this.rows.length && this.nodes.has(this.active)) this.list.setAttribute('aria-activedescendant', `row-${this.active}`);
    else this.list.removeAttribute('aria-activedescendant');
  },

  row(n) {
    const i = this.rows[n], metric = chosenMetric(), chosen = i === imageNumber();
    const lines = systems.slice(0, SHOWN).map((system, k) => {
      const texts = captionsOf(k, i), value = column(k, metric)[i];
      const text = texts.length ? shorten(texts[0], 180) : '';
      return h('div.said', null, sign(k), h('span.spoken', null, `${system.name}: `), texts.length ? words(text || '(empty)', 'span', { class: text ? 'text' : 'text empty' }) : h('span.text.empty', null, data.texts[k] ? '–' : 'not in the file'), texts.length > 1 && h('small', null, `+${texts.length - 1}`),
        h(`span.meter.${look(k).colour}`, { 'aria-hidden': 'true' }, h('span', { css: { width: filled(metric, value) } })), h('span.number', null, short(value, 3)));
    });
    const key = this.key && isDefined(this.key[i]) && !['metric', 'order'].includes(state.sort) ? short(this.key[i], ['hallucinated', 'length', 'excess'].includes(state.sort) ? 0 : 3) : '';
    return h('div.row', { role: 'option', id: `row-${n}`, 'aria-selected': chosen ? 'true' : 'false', 'aria-posinset': n + 1, 'aria-setsize': this.rows.length, class: (chosen ? 'row chosen' : 'row') + (n === this.active ? ' active' : ''), css: { transform: `translateY(${n * this.height}px)` }, onclick: () => this.open(n) },
      picture(i, '.thumb'), h('div.lines', null, h('div.id', null, words(shorten(data.ids[i], 60)), key && h('span.sortkey', null, key)), lines, systems.length > SHOWN && h('div.more', null, `and ${systems.length - SHOWN} more systems`)));
  },

  open(n) {
    if (n < 0 || n >= this.rows.length) return;
    this.active = n;
    const id = data.ids[this.rows[n]];
    go({ image: id, caption: '0' }, true);
    announce(`Image ${id}, ${n + 1} of ${this.rows.length}`);
  },

  step(by) { const n = Math.max(0, Math.min(this.rows.length - 1, this.active + by)); this.open(n); this.reveal(n); },

  reveal(n) {
    const top = n * this.height;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    else if (top + this.height > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = top + this.height - this.list.clientHeight;
  },

  keyed(event) {
    const page = Math.max(1, Math.floor(this.list.clientHeight / this.height) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); this.open(this.active); return; }
    if (!(event.key in moves) || !this.rows.length) return;
    event.preventDefault();
    this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + moves[event.key]));
    this.reveal(this.active);
    this.draw(true);
  },
};
