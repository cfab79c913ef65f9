// Table of systems by metrics with intervals and groups of systems that do not differ, and one metric in full.

// Whether a system is significantly better than every other: it has the best value and shares no letter.
function isBest(metric, k) {
  const values = metric.values.filter(isDefined);
  if (systems.length < 2 || !metric.groups || !isDefined(metric.values[k])) return false;
  if (metric.values[k] !== (metric.higher ? Math.max(...values) : Math.min(...values))) return false;
  return metric.groups.every((letters, other) => other === k || ![...letters].some((letter) => metric.groups[k].includes(letter)));
}

const boardMetric = () => metricNumber.get(state.board) ?? favourite;

// Place of each system by a metric, 1 for the best; equal values share a place. None if the values cannot be compared.
function ranks(metric) {
  const better = (a, b) => (metric.higher ? a > b : a < b);
  return metric.values.map((value) => (isDefined(value) && metric.comparable && systems.length > 1 ? 1 + metric.values.filter((other) => isDefined(other) && better(other, value)).length : null));
}

function boardOrder() {
  const order = systems.map((_, k) => k);
  const metric = metrics[boardMetric()];
  const sense = (metric.higher ? -1 : 1) * (state.turn ? -1 : 1);
  const value = (k) => (isDefined(metric.values[k]) ? metric.values[k] : NaN);
  return order.sort((a, b) => (isDefined(value(a)) - isDefined(value(b))) * -1 || sense * (value(a) - value(b)) || a - b);
}

// Common range of the bars of a metric.
function span(metric) {
  const ends = metric.values.flatMap((value, k) => [value, ...(metric.intervals[k] || [])]).filter(isDefined);
  const low = Math.min(...ends), high = Math.max(...ends), room = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
  return [low - room, high + room];
}

function whisker(metric, k) {
  const [low, high] = span(metric), at = (value) => 3 + (94 * (value - low)) / (high - low);
  const interval = metric.intervals[k];
  const bar = s('svg.whisker', { viewBox: '0 0 100 12', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, s('line.track', { x1: 0, x2: 100, y1: 6, y2: 6 }));
  if (interval && isDefined(interval[0])) bar.append(s(`rect.range.${look(k).colour}`, { x: at(interval[0]), width: Math.max(0.6, at(interval[1]) - at(interval[0])), y: 3.5, height: 5 }));
  if (isDefined(metric.values[k])) bar.append(s(`rect.point.${look(k).colour}`, { x: at(metric.values[k]) - 1, width: 2, y: 0.5, height: 11 }));
  return bar;
}

function cell(metric, k, picked) {
  const value = metric.values[k], kind = picked ? 'value picked' : 'value';
  if (!isDefined(value)) return h('td', { class: kind }, '–');
  const interval = metric.intervals[k];
  const range = interval && isDefined(interval[0]) ? `${100 * meta.level} % interval ${number(interval[0], metric.format)} to ${number(interval[1], metric.format)}` : '';
  const oracle = metric.oracle[k];
  return h('td', { class: kind, title: range || null },
    h('span.first', null,
      h('span.number', { class: isBest(metric, k) ? 'number best' : 'number' }, number(value, metric.format), isBest(metric, k) && h('span.spoken', null, ' (significantly better than every other system)')),
      metric.groups && h('span.group', { title: 'Systems that share a letter do not differ significantly' }, h('span.spoken', null, ' group '), metric.groups[k])),
    whisker(metric, k),
    range && h('span.spoken', null, range),
    isDefined(oracle) && h('span.oracle', null, `best caption ${number(oracle, metric.format)}`));
}

function boardHead() {
  return metrics.map((metric, m) => {
    const active = boardMetric() === m;
    const sorted = !active ? 'none' : (metric.higher ? !state.turn : Boolean(state.turn)) ? 'descending' : 'ascending';
    return h('th', { scope: 'col', 'aria-sort': sorted, class: active ? 'active picked' : null },
      h('button.sort', { title: `${metric.sees} ${metric.misses} (${senseOf(metric)})`, 'data-metric': metric.name, onclick: () => { go(active ? { turn: !state.turn } : { board: metric.name, turn: '' }); focusOn(`[data-metric="${CSS.escape(metric.name)}"]`); } },
        metric.name, h('span.sense', { 'aria-hidden': 'true' }, ` ${arrowOf(metric)}`), h('span.spoken', null, ` (${senseOf(metric)})`), h('span.arrow', { 'aria-hidden': 'true' }, sorted === 'descending' ? '▼' : sorted === 'ascending' ? '▲' : '')));
  });
}

function focusOn(query) { document.querySelector(query)?.focus(); }

// One metric in full: every system with its interval, and brackets around systems that do not differ.
function forest(m) {
  const metric = metrics[m];
  const order = systems.map((_, k) => k).filter((k) => isDefined(metric.values[k])).sort((a, b) => (metric.higher ? -1 : 1) * (metric.values[a] - metric.values[b]));
  // On phones, names are above their lines.
  const width = roomFor(820), narrow = width < 520, step = narrow ? 44 : 30, left = narrow ? 16 : 170;
  const height = 48 + order.length * step, [low, high] = span(metric);
  const letters = metric.groups ? [...new Set(metric.groups.join(''))].sort() : [];
  const chart = frame({ width, height, x: [low, high], y: [order.length - 0.5, -0.5], yTicks: [], left, right: 24 + letters.length * 16, bottom: 40, topSpace: 8, xLabel: `${metric.name} (${senseOf(metric)})`, label: `${metric.name} of each system with ${100 * meta.level} % intervals` });
  const py = (row) => 8 + (height - 48) * ((row + 0.5) / order.length) + (narrow ? 9 : 0);
  order.forEach((k, row) => {
    const y = py(row), interval = metric.intervals[k], limit = narrow ? 34 : 19, nameY = narrow ? y - 21 : y;
    chart.svg.append(s('line.grid', { x1: chart.left, x2: chart.width - chart.right, y1: y, y2: y }));
    chart.svg.append(marker(k, narrow ? 8 : 14, nameY, 5.5), s('text.name', { x: narrow ? 20 : 28, y: nameY + 4.5, direction: 'ltr' }, shorten(systems[k].name, limit), systems[k].name.length > limit && s('title', null, systems[k].name)));
    if (interval && isDefined(interval[0])) chart.svg.append(s(`line.whisk.${look(k).colour}`, { x1: chart.px(interval[0]), x2: chart.px(interval[1]), y1: y, y2: y }));
    chart.svg.append(marker(k, chart.px(metric.values[k]), y, 6.5, `${systems[k].name}: ${number(metric.values[k], metric.format)}`));
  });
  letters.forEach((letter, n) => {
    const rows = order.map((k, row) => (metric.groups[k].includes(letter) ? row : -1)).filter((row) => row >= 0), x = chart.width - chart.right + 16 + n * 16;
    if (rows.length > 1) chart.svg.append(s('path.bracket', { d: `M${x},${py(rows[0])}V${py(rows.at(-1))}` }));
    for (const row of rows) chart.svg.append(s('circle.member', { cx: x, cy: py(row), r: 8 }), s('text.letter', { x, y: py(row) + 4, 'text-anchor': 'middle' }, letter));
  });
  const numbers = order.map((k) => [systems[k].name, number(metric.values[k], metric.format), ...(metric.intervals[k] || [null, null]).map((bound) => number(bound, metric.format)), metric.groups ? metric.groups[k] : '–']);
  return figure(`${metric.name}, closer`, `${metric.sees} ${metric.misses}`, chart.svg, { head: ['system', 'value', 'low', 'high', 'group'], rows: numbers },
    metric.groups && h('p.note', null, `Letters join systems that do not differ significantly (paired randomisation, Holm’s correction over ${plural(meta.family, 'comparison')}, α = ${meta.alpha}).`));
}

// Metrics of one family share a description.
function meanings() {
  const byText = new Map();
  for (const metric of metrics) {
    const key = `${metric.sees}\n${metric.misses}`;
    if (byText.has(key)) byText.get(key)[0].push(metric.name); else byText.set(key, [[metric.name], metric]);
  }
  return [...byText.values()];
}

function signatures() {
  const rows = [];
  for (const metric of metrics) {
    const systemsOf = new Map();
    metric.signatures.forEach((text, k) => { if (text) systemsOf.set(text, [...(systemsOf.get(text) || []), systems[k].name]); });
    for (const [text, names] of systemsOf) rows.push(h('li', null, systemsOf.size > 1 && h('strong', null, words(names.join(', ')), ': '), h('code', null, text)));
  }
  return h('details.signatures', null, h('summary', null, 'How each number was made (signatures)'), h('ul', null, rows));
}

// Scores of each group of images by one metric, and the mean over groups.
function facetTable(facet, m) {
  const metric = metrics[m], scores = facet.scores[metric.name], names = [...facet.groups.map((group) => group.name), 'macro mean'];
  if (!scores) return null;
  const ends = scores.flatMap((rows) => (rows || []).flat()).filter(isDefined), low = Math.min(...ends), high = Math.max(...ends), at = (value) => 3 + (94 * (value - low)) / (high - low || 1);
  const drawn = (row, k) => s('svg.whisker', { viewBox: '0 0 100 12', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, s('line.track', { x1: 0, x2: 100, y1: 6, y2: 6 }),
    isDefined(row[1]) && s(`rect.range.${look(k).colour}`, { x: at(row[1]), width: Math.max(0.6, at(row[2]) - at(row[1])), y: 3.5, height: 5 }), s(`rect.point.${look(k).colour}`, { x: at(row[0]) - 1, width: 2, y: 0.5, height: 11 }));
  const range = (row) => (isDefined(row[1]) ? `${100 * meta.level} % interval ${number(row[1], metric.format)} to ${number(row[2], metric.format)}` : null);
  const body = boardOrder().map((k) => h('tr', null, h('th', { scope: 'row' }, named(k, systems[k].name, 28)),
    names.map((_, g) => { const row = scores[k] && scores[k][g]; return row && isDefined(row[0]) ? h('td.value', { title: range(row) }, h('span.number', null, number(row[0], metric.format)), drawn(row, k), range(row) && h('span.spoken', null, range(row))) : h('td.value', null, '–'); })));
  const column = meta.facets.indexOf(facet);
  const head = names.map((name, g) => h('th', { scope: 'col' }, g < facet.groups.length
    ? [h('button.sort', { title: 'Show these images', onclick: () => go({ view: 'images', facet: `${column}.${g}`, image: '' }, true) }, words(shorten(name, 24))), h('small', null, plural(facet.groups[g].images, 'image'))]
    : [name, h('small', null, 'each group counts the same')]));
  return h('section.facet', { 'aria-label': `Groups by ${facet.column}` }, h('h3', null, `${metric.name} by `, words(facet.column)),
    h('div.scroll.board', { tabindex: 0, role: 'region', 'aria-label': `${metric.name} by ${facet.column}` }, h('table.leader.facets', null, h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'System'), head)), h('tbody', null, body))),
    h('p.note', null, `All bars share one scale. Groups share the document frequencies and other weights of all images.${facet.left_out ? ` ${plural(facet.left_out, 'smaller group')} not shown.` : ''}`));
}

const leaderboard = {
  name: 'leaderboard',
  title: 'Leaderboard',
  build(section) {
    this.picker = select('Metric', metrics.map((metric) => [metric.name, `${metric.name} ${arrowOf(metric)}`]), metrics[boardMetric()].name, (value) => go({ board: value, turn: '' }));
    this.table = h('div.scroll.board', { tabindex: 0, role: 'region', 'aria-label': 'Table of scores' });
    this.closer = h('div');
    const order = () => boardOrder();
    section.append(
      h('div.picker', null, this.picker),
      this.table,
      h('p.note.key', null, h('span', null, `Bars: ${100 * meta.level} % intervals (bootstrap over images, each column on its own scale). `), metrics.some((m) => m.groups) && h('span', null, 'Letters: systems that share one do not differ significantly. '), h('span', null, 'Bold: significantly better than every other system. ↑ higher is better, ↓ lower is better. '), h('span.wider', null, 'Click a metric to sort.')),
      h('div.tools', null,
        h('button', { onclick: () => { const t = boardTable(order()); copy(markdown(t.head, t.rows, t.bold), 'Markdown'); } }, 'Copy Markdown'),
        h('button', { onclick: () => { const t = boardTable(order(), '-'); copy(latex(t.head, t.rows, t.bold), 'LaTeX'); } }, 'Copy LaTeX'),
        h('button', { onclick: () => download('scores.csv', 'text/csv', boardCsv(order())) }, 'CSV of scores'),
        h('button', { onclick: async () => { await loaded; download('images.csv', 'text/csv', imagesCsv(data.ids.keys())); } }, 'CSV of images'),
        h('button', { onclick: async () => { await loaded; download('report.json', 'application/json', everything()); } }, 'JSON')),
      this.closer,
      h('section.meanings', { 'aria-labelledby': 'meanings' }, h('h3', { id: 'meanings' }, 'What the metrics see, and what they do not'),
        h('dl', null, meanings().map(([names, metric]) => h('div', null, h('dt', null, names.join(', '), h('small', null, ` ${senseOf(metric)}`)), h('dd', null, metric.sees, ' ', h('em', null, metric.misses)))))),
      signatures());
  },
  update() {
    const picked = boardMetric(), place = ranks(metrics[picked]);
    this.picker.field.value = metrics[picked].name;
    const rows = boardOrder().map((k) => h('tr', null,
      h('th', { scope: 'row' }, h('span.ranked', null, place[k] !== null && h('span.rank', { title: `Place by ${metrics[picked].name}` }, h('span.spoken', null, 'place '), place[k]), named(k, systems[k].name, 28)), isDefined(systems[k].words) && h('small', null, `${short(systems[k].words, 1)} words`)),
      metrics.map((metric, m) => cell(metric, k, m === picked))));
    replace(this.table, h('table.leader', null, h('caption.spoken', null, 'Systems by metrics'), h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'System'), boardHead())), h('tbody', null, rows)));
    replace(this.closer, forest(boardMetric()), meta.facets.map((facet) => facetTable(facet, boardMetric())));
  },
};
