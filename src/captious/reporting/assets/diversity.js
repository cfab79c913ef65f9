// Diversity: accuracy against diversity of sampled sets, the sets of one image, and the language of whole corpora.

// Look of a row: samples with the name of a system share its look.
function lookOf(name, human, place) {
  if (human) return PEOPLE;
  const k = systems.findIndex((system) => system.name === name);
  return k >= 0 ? k : systems.length + place;
}

// Accuracy and diversity -----------------------------------------------------------------------------------------------

function plane(sets) {
  const accuracy = sets.measures.find((measure) => measure.name.startsWith('mean ')), spread = sets.measures.find((measure) => measure.name === 'Self-CIDEr') || sets.measures.find((measure) => measure.name === 'LSA');
  if (!accuracy || !spread) return null;
  const points = sets.systems.map((system, n) => ({ ...system, k: lookOf(system.name, system.human, n), x: accuracy.values[n], y: spread.values[n], xi: accuracy.intervals[n], yi: spread.intervals[n] })).filter((one) => isDefined(one.x) && isDefined(one.y));
  const reach = (key, bounds) => {
    const all = points.flatMap((one) => [one[key], ...(one[bounds] || [])]).filter(isDefined), low = Math.min(...all), high = Math.max(...all), room = (high - low) * 0.18 || 0.1;
    return [Math.max(0, low - room), high + room];
  };
  const chart = frame({ x: reach('x', 'xi'), y: reach('y', 'yi'), xLabel: `accuracy (${accuracy.name})`, yLabel: `diversity (${spread.name})`, height: 380, label: 'Accuracy against diversity' });
  for (const one of points) {
    const x = chart.px(one.x), y = chart.py(one.y), { colour } = look(one.k);
    if (one.xi) chart.svg.append(s(`line.whisk.${colour}`, { x1: chart.px(one.xi[0]), x2: chart.px(one.xi[1]), y1: y, y2: y }));
    if (one.yi) chart.svg.append(s(`line.whisk.${colour}`, { x1: x, x2: x, y1: chart.py(one.yi[0]), y2: chart.py(one.yi[1]) }));
    chart.svg.append(marker(one.k, x, y, 8, one.name), s('text.name', x > chart.width * 0.62 ? { x: x - 13, y: y - 9, 'text-anchor': 'end' } : { x: x + 13, y: y - 9 }, shorten(one.name, 28)));
  }
  return figure('Accuracy and diversity', 'Up and to the right is better. People are the star; lines are intervals.', chart.svg, { head: ['', accuracy.name, spread.name], rows: points.map((one) => [one.name, short(one.x, 4), short(one.y, 4)]) });
}

function setTable(sets) {
  return figure('Sets of captions in numbers', 'People’s captions are the references, each judged against the others of its image.',
    h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Diversity of sets' }, h('table.plain', null,
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'measure'), sets.systems.map((system) => h('th', { scope: 'col' }, words(shorten(system.name, 30)), ` (${system.captions})`)))),
      h('tbody', null, sets.measures.map((measure) => h('tr', { title: `${measure.sees} ${measure.misses}` }, h('th', { scope: 'row' }, measure.name, !measure.higher && ' ↓'), measure.values.map((value) => h('td', null, number(value, measure.format)))))))));
}

// The sets of one image ----------------------------------------------------------------------------------------------

// Mean over n of tf-idf cosines: the kernel of Self-CIDEr.
function similarities(captions, idf) {
  const all = captions.map((tokens) => vectors(tokens, idf));
  return all.map((one) => all.map((other) => mean(one.map(({ weight, norm }, n) => {
    if (!(norm > 0 && other[n].norm > 0)) return 0;
    let product = 0;
    for (const [gram, value] of weight) product += value * (other[n].weight.get(gram) || 0);
    return product / (norm * other[n].norm);
  }))));
}

// Eigenvalues of a small symmetric matrix, largest first, by Jacobi's rotations.
function eigenvalues(matrix) {
  const a = matrix.map((row) => [...row]), n = a.length;
  for (let sweep = 0; sweep < 60; sweep += 1) {
    let off = 0;
    for (let p = 0; p < n; p += 1) for (let q = p + 1; q < n; q += 1) off += a[p][q] * a[p][q];
    if (off < 1e-18) break;
    for (let p = 0; p < n; p += 1) {
      for (let q = p + 1; q < n; q += 1) {
        if (Math.abs(a[p][q]) < 1e-15) continue;
        const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]), t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1)), c = 1 / Math.sqrt(t * t + 1), w = t * c;
        for (let k = 0; k < n; k += 1) { const x = a[k][p], y = a[k][q]; a[k][p] = c * x - w * y; a[k][q] = w * x + c * y; }
        for (let k = 0; k < n; k += 1) { const x = a[p][k], y = a[q][k]; a[p][k] = c * x - w * y; a[q][k] = w * x + c * y; }
      }
    }
  }
  return a.map((row, k) => row[k]).sort((x, y) => y - x);
}

function selfCider(values) {
  const roots = values.map((value) => Math.sqrt(Math.max(0, value))), total = roots.reduce((x, y) => x + y, 0);
  return values.length < 2 || !total ? 0 : Math.max(0, -Math.log(roots[0] / total) / Math.log(values.length));
}

function heat(matrix, name) {
  return h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': `Similarities, ${name}` }, h('table.matrix', null, h('caption.spoken', null, 'Similarity of captions'),
    h('thead', null, h('tr', null, h('td'), matrix.map((_, k) => h('th', { scope: 'col' }, k + 1)))),
    h('tbody', null, matrix.map((row, i) => h('tr', null, h('th', { scope: 'row' }, i + 1), row.map((value, j) => h('td', { css: { background: i === j ? 'var(--sunk)' : `color-mix(in srgb, var(--c0) ${Math.round(62 * Math.max(0, Math.min(1, value)))}%, var(--panel))` } }, i === j ? '' : value.toFixed(2).replace(/^0/, ''))))))));
}

function spectrum(values) {
  const roots = values.map((value) => Math.sqrt(Math.max(0, value))), total = roots.reduce((x, y) => x + y, 0) || 1;
  const chart = frame({ width: 240, height: 170, left: 36, bottom: 34, right: 6, x: [0.4, roots.length + 0.6], y: [0, Math.max(roots[0] / total, 0.01) * 1.1], xTicks: roots.map((_, k) => k + 1), xLabel: 'direction', yFormat: (value) => `${Math.round(value * 100)} %`, yTicks: ticks(0, Math.max(roots[0] / total, 0.01), 3), label: 'Spectrum: share of each direction' });
  const width = (chart.px(2) - chart.px(1)) * 0.7;
  roots.forEach((value, k) => chart.svg.append(s('rect.bar.s0', { x: chart.px(k + 1) - width / 2, width, y: chart.py(value / total), height: chart.py(0) - chart.py(value / total) }, s('title', null, `${((100 * value) / total).toFixed(1)} %`))));
  return chart.svg;
}

const setBrowser = {
  build() {
    this.body = h('div.sets');
    this.choice = h('input', { type: 'search', list: 'set-images', id: 'set-image', onchange: () => go({ set: this.choice.value }) });
    this.element = h('div', null, h('h2', null, 'One image at a time'),
      h('div.choices', null, h('span.control', null, h('label', { for: 'set-image' }, 'Image'), this.choice), h('button', { onclick: () => this.extreme(1) }, 'Most diverse'), h('button', { onclick: () => this.extreme(-1) }, 'Least diverse'), h('button', { onclick: () => this.step(-1), 'aria-label': 'Previous image' }, '←'), h('button', { onclick: () => this.step(1), 'aria-label': 'Next image' }, '→')),
      h('p.note', null, 'Each table says how similar two captions are (tf-idf cosines over n-grams, from 0 to 1). Where all say the same, one direction has everything; the more directions share the weight, the higher is Self-CIDEr.'), this.body);
    return this.element;
  },
  at() { const i = data.number.get(state.set); return i === undefined ? 0 : i; },
  step(by) { go({ set: data.ids[(this.at() + by + data.ids.length) % data.ids.length] }); },
  async extreme(sense) {
    const sets = await block('sets'), values = sets.values[0][sets.measures.indexOf('Self-CIDEr')] || sets.values[0][sets.measures.indexOf('LSA')];
    let best = -1;
    values.forEach((value, i) => { if (isDefined(value) && (best < 0 || sense * (value - values[best]) > 0)) best = i; });
    if (best >= 0) go({ set: data.ids[best] });
  },
  async update() {
    const i = this.at();
    if (this.drawn === i) return;
    this.drawn = i;
    this.choice.value = data.ids[i];
    const [sets, idf] = await Promise.all([block('sets'), weigher()]);
    replace(this.body, meta.sets.systems.map((system, n) => {
      const texts = (system.human ? referencesOf(i) : listed(sets.texts[n][i])).slice(0, 30);
      if (!texts.length) return null;
      const odd = system.human ? null : sets.words[n] && listed(sets.words[n][i]), tokens = system.human ? referenceWords(i).slice(0, 30) : texts.map((text, k) => split(odd ? odd[k] : null, text));
      const matrix = similarities(tokens, idf), values = eigenvalues(matrix), kind = lookOf(system.name, system.human, n);
      const shown = sets.measures.map((name, m) => (sets.values[n][m] ? `${name} ${short(sets.values[n][m][i], 3)}` : '')).filter(Boolean).join(' · ');
      return h('div.set', { 'data-value': selfCider(values).toFixed(4) }, h('h3', null, named(kind, system.name, 40)), h('p.note', null, shown),
        h('div.inside', null, h('ol', null, texts.map((text) => words(shorten(text, 300), 'li'))), heat(matrix, system.name), h('div', null, spectrum(values))));
    }));
  },
};

// Whole corpora ------------------------------------------------------------------------------------------------------

const BRIEF = { preposition: 'prep.', determiner: 'determ.', conjunction: 'conj.', adjective: 'adject.', existential: 'exist.' };

function languageFigures(language) {
  const reports = language.reports.map((report, n) => ({ ...report, k: lookOf(report.name, report.human, n) }));
  const series = (key, from = 0) => reports.filter((one) => one[key]).map((one) => ({ k: one.k, name: one.name, y: one[key], x: one[key].map((_, at) => at + from) }));
  const percent = (value) => `${Math.round(100 * value)} %`;
  const table = (head, key, show) => ({ head: ['', ...head], rows: reports.filter((one) => one[key]).map((one) => [one.name, ...one[key].map(show)]) });
  const figures = [];
  const grown = reports.filter((one) => one.tokens && one.tokens.length > 1).map((one) => ({ k: one.k, name: one.name, x: one.tokens, y: one.types }));
  if (grown.length) figures.push(figure('New words as captions are read', 'Different words by number of words read. A curve that flattens early is a small vocabulary.', lines(grown, { x0: 0, xLabel: 'words read', yLabel: 'different words', xFormat: count, yFormat: count, label: 'Type-token curves' }), { head: ['', 'words', 'different words'], rows: grown.map((one) => [one.name, count(one.x.at(-1)), count(one.y.at(-1))]) }));
  const deciles = series('deciles', 1);
  if (deciles.length) figures.push(figure('How far down the vocabulary', 'Share of the references’ words that a system ever uses, from the most frequent tenth to the rarest.', lines(deciles, { xLabel: 'tenth of the vocabulary, frequent to rare', yFormat: percent, y: [0, 1], xTicks: deciles[0].x, label: 'Coverage by frequency' }), table(deciles[0].x.map((k) => `${k}0 %`), 'deciles', percent)));
  const recall = series('recall', 1).filter((one) => one.y.length);
  if (recall.length) figures.push(figure('What people agree on', 'Share of an image’s words that its caption has, by how many people used them. People: one against the others.', lines(recall, { xLabel: 'people who used the word', yFormat: percent, y: [0, 1], xTicks: recall[0].x, label: 'Local recall' }), table(recall[0].x.map(String), 'recall', percent)));
  const sized = (key, low, high) => reports.filter((one) => one[key]).map((one) => {
    const counts = Array.from({ length: high - low + 1 }, (_, at) => one[key][low + at] || 0);
    counts[counts.length - 1] += one[key].slice(high + 1).reduce((x, y) => x + y, 0);
    return { k: one.k, name: one.name, y: counts };
  });
  for (const [key, low, high, title, note] of [['compounds', 2, 4, 'Compounds', 'Runs of nouns (“tennis court”) per 1,000 captions, by number of nouns.'], ['prepositions', 1, 5, 'Prepositional phrases', 'Per 1,000 captions, by prepositions in the phrase (“on top of a table” has two).']]) {
    const groups = sized(key, low, high), names = Array.from({ length: high - low + 1 }, (_, at) => `${low + at}${low + at === high ? '+' : ''}`);
    if (groups.length) figures.push(figure(title, note, bars(names, groups, { yFormat: (value) => short(value, value < 10 ? 1 : 0), label: title }), { head: ['', ...names], rows: groups.map((one) => [one.name, ...one.y.map((value) => short(value, 1))]) }));
  }
  const people = reports.find((one) => one.human), tags = people ? Object.keys(people.tags).slice(0, 9) : [];
  if (tags.length) {
    const groups = reports.map((one) => ({ k: one.k, name: one.name, y: tags.map((tag) => one.tags[tag] || 0) }));
    figures.push(figure('Parts of speech', 'Share of all words, beside people.', bars(tags.map((tag) => BRIEF[tag] || tag), groups, { yFormat: percent, label: 'Parts of speech' }), { head: ['', ...tags], rows: groups.map((one) => [one.name, ...one.y.map((value) => `${(100 * value).toFixed(1)} %`)]) }));
  }
  return figures;
}

// People come first, where no scrollbar hides them.
function languageTable(language) {
  const order = [...language.reports.keys()].sort((a, b) => language.reports[b].human - language.reports[a].human);
  return figure('The language of each system', 'Beside people: each measure of one description per image, averaged.',
    h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Language of each system' }, h('table.plain.language', null,
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'measure'), order.map((n) => h('th', { scope: 'col' }, named(lookOf(language.reports[n].name, language.reports[n].human, n), language.reports[n].name, 24))))),
      h('tbody', null, language.columns.map((column) => h('tr', null, h('th', { scope: 'row' }, column.title, h('small', null, ` ${column.summary}`)),
        order.map((n) => h('td', { 'data-name': shorten(language.reports[n].name, 24) }, number(language.reports[n].values[column.key], column.format)))))))));
}

function wordColumns(language, n) {
  const report = language.reports[n];
  const list = (title, note, rows, heads) => rows.length > 0 && figure(title, note, h('table.wordlist', null, h('thead', null, h('tr', null, heads.map((head) => h('th', { scope: 'col' }, head)))),
    h('tbody', null, rows.slice(0, 15).map((row) => h('tr', null, h('th', { scope: 'row' }, h('button', { title: 'Search for it', onclick: () => go({ view: 'images', q: row[0], whole: '1', within: data.refs ? 'all' : 'captions', image: '' }, true) }, words(shorten(row[0], 30)))), row.slice(1).map((cell) => h('td', null, cell)))))));
  const used = (rows) => rows.map(([word, own, theirs, ratio]) => [word, count(own), count(theirs), isDefined(ratio) ? `${ratio >= 10 ? Math.round(ratio) : ratio.toFixed(2)}×` : '∞']);
  return [list('Over-used words', 'More often than people use them.', used(report.over), ['word', 'system', 'people', 'ratio']), list('Under-used words', 'Less often than people use them.', used(report.under), ['word', 'system', 'people', 'ratio']),
    list('Never said', 'The most frequent words of people that the system never uses.', report.omitted.map(([word, n]) => [word, count(n)]), ['word', 'people']), list('Missed where all agree', 'Words that everybody used for an image and its caption lacks.', report.missed.map(([word, missed, there]) => [word, `${count(missed)} of ${count(there)}`]), ['word', 'missed'])].filter(Boolean);
}

const diversity = {
  name: 'diversity',
  title: 'Diversity',
  // Load everything before drawing, so that the page does not shift.
  needs: () => (meta.sets ? [block('sets'), meta.explanations.includes('ngrams') && weigher()] : []),
  build(section) {
    if (meta.sets) {
      section.append(h('h2', null, 'Sets of captions'), h('div.pair', null, plane(meta.sets), setTable(meta.sets)));
      if (meta.explanations.includes('ngrams')) section.append(setBrowser.build());
    }
    if (meta.language) {
      const language = meta.language, own = language.reports.map((report, n) => [String(n), report.name]).filter((_, n) => !language.reports[n].human), lists = h('div.pair');
      const fillIn = (value) => replace(lists, wordColumns(language, Number(value)));
      const everyone = legend(language.reports.map((report, n) => ({ k: lookOf(report.name, report.human, n), name: report.name })));
      everyone.classList.add('stays');
      section.append(h('h2', null, 'Whole corpora'), h('div', null, everyone, h('div.pair', null, languageFigures(language))), h('div.wide', null, languageTable(language)),
        h('h2', null, 'Words'), h('div.choices', null, select('System', own, '0', fillIn)), lists);
      fillIn('0');
    }
  },
  update() { if (meta.sets && meta.explanations.includes('ngrams')) setBrowser.update(); },
};
