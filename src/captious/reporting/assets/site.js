// The site: tables of comparable scores, runs over time, and a page for each run. All text is set as text.

const meta = JSON.parse(document.getElementById('data-meta').textContent);
const runs = meta.runs, own = meta.run, home = own === null ? '' : '../';
const runLink = (k) => `${home}runs/${encodeURIComponent(runs[k].slug)}.html`;
const day = (k) => runs[k].time.slice(0, 10);
const rowsOf = (column) => new Map(column.rows.map(([run, row]) => [Number(run), row]));

function whiskerOf(row, low, high) {
  const at = (value) => 3 + (94 * (value - low)) / (high - low || 1);
  return s('svg.whisker.s0', { viewBox: '0 0 100 12', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, s('line.track', { x1: 0, x2: 100, y1: 6, y2: 6 }),
    isDefined(row[1]) && s('rect.range', { x: at(row[1]), width: Math.max(0.6, at(row[2]) - at(row[1])), y: 3.5, height: 5 }), s('rect.point', { x: at(row[0]) - 1, width: 2, y: 0.5, height: 11 }));
}

// The table of one data set. Each column has one signature, so that only comparable numbers are below each other.
function boardOf(board) {
  const values = board.columns.map(rowsOf), members = [...new Set(values.flatMap((rows) => [...rows.keys()]))];
  const usual = Math.max(0, board.columns.findIndex((column) => column.name === 'CIDEr-D'));
  const sorted = { by: usual, turned: false }, box = h('div.scroll.board', { tabindex: 0, role: 'region', 'aria-label': board.name });
  let query = '';
  const ends = values.map((rows) => { const all = [...rows.values()].flat().filter(isDefined); return [Math.min(...all), Math.max(...all)]; });
  const cell = (c, k) => {
    const row = values[c].get(k), column = board.columns[c];
    // A phone shows the column that sorts the table.
    const kind = c === (sorted.by === 'time' ? usual : sorted.by) ? 'value picked' : 'value';
    if (!row || !isDefined(row[0])) return h('td', { class: kind }, '–');
    const range = isDefined(row[1]) ? `${100 * meta.level} % interval ${number(row[1], column.format)} to ${number(row[2], column.format)}` : '';
    return h('td', { class: kind, title: range || null }, h('span.number', null, number(row[0], column.format)), whiskerOf(row, ...ends[c]), range && h('span.spoken', null, range));
  };
  const draw = () => {
    const time = sorted.by === 'time', column = time ? null : board.columns[sorted.by], sense = (time ? -1 : column.higher ? -1 : 1) * (sorted.turned ? -1 : 1);
    const key = (k) => (time ? Date.parse(runs[k].time) : (values[sorted.by].get(k) || [])[0]);
    const order = [...members].sort((a, b) => isDefined(key(b)) - isDefined(key(a)) || sense * (key(a) - key(b)) || a - b);
    const better = (a, b) => (column.higher ? a > b : a < b);
    const place = (k) => (time || !isDefined(key(k)) ? null : 1 + members.filter((other) => isDefined(key(other)) && better(key(other), key(k))).length);
    const sort = (by) => () => { if (sorted.by === by) sorted.turned = !sorted.turned; else Object.assign(sorted, { by, turned: false }); draw(); };
    const state = (by, down) => (sorted.by !== by ? 'none' : down !== sorted.turned ? 'descending' : 'ascending'), arrow = (which) => h('span.arrow', { 'aria-hidden': 'true' }, which === 'none' ? '' : which === 'descending' ? '▼' : '▲');
    const head = board.columns.map((one, c) => h('th', { scope: 'col', 'aria-sort': state(c, one.higher), class: sorted.by === c ? 'active picked' : null },
      h('button.sort', { title: one.signature, 'data-column': c, onclick: sort(c) }, one.name, h('span.sense', { 'aria-hidden': 'true' }, one.higher ? ' ↑' : ' ↓'), h('span.spoken', null, one.higher ? ' (higher is better)' : ' (lower is better)'), arrow(state(c, one.higher))), one.apart && h('small', null, one.apart)));
    const shown = order.filter((k) => runs[k].name.toLowerCase().includes(query));
    replace(box, h('table.leader', null, h('caption.spoken', null, board.name),
      h('thead', null, h('tr', null, h('th', { scope: 'col', 'aria-sort': state('time', true) }, h('button.sort', { onclick: sort('time'), title: 'Sort by time' }, 'Run', arrow(state('time', true)))), head)),
      h('tbody', null, shown.map((k) => h('tr', { class: k === own ? 'own' : null }, h('th', { scope: 'row' }, h('span.ranked', null, place(k) !== null && h('span.rank', null, h('span.spoken', null, 'place '), place(k)), h('a', { href: runLink(k), 'aria-current': k === own ? 'page' : null }, words(shorten(runs[k].name, 40)))), h('time', { datetime: runs[k].time }, day(k))), board.columns.map((_, c) => cell(c, k)))))));
  };
  draw();
  const choice = h('select', { 'aria-label': 'Metric', onchange: () => { Object.assign(sorted, { by: Number(choice.value), turned: false }); draw(); } }, board.columns.map((column, c) => h('option', { value: c, selected: c === usual }, `${column.name} ${column.higher ? '↑' : '↓'}${column.apart ? ` (${column.apart})` : ''}`)));
  return { element: h('section', { class: 'data' }, h('h2', null, words(board.name)), h('div.picker', null, choice), box, h('p.note', null, `Bars: ${100 * meta.level} % intervals, each column on its own scale. Only numbers with the same signature share a column.`), trendOf(board, values, members)), filter: (text) => { query = text; draw(); }, members };
}

// Values of one metric over time, with intervals.
function trendOf(board, values, members) {
  if (members.length < 2) return null;
  const box = h('div'), usual = Math.max(0, board.columns.findIndex((column) => column.name === 'CIDEr-D'));
  const draw = (c) => {
    const column = board.columns[c], points = [...values[c]].filter(([, row]) => isDefined(row[0])).map(([k, row]) => ({ k, row, t: Date.parse(runs[k].time) })).sort((a, b) => a.t - b.t || a.k - b.k);
    const width = Math.max(300, Math.min(900, document.documentElement.clientWidth - 90)), height = 220, left = 60, right = 12, bottom = 30, ends = points.flatMap(({ row }) => row).filter(isDefined);
    const low = Math.min(...ends), high = Math.max(...ends), room = (high - low) * 0.08 || 0.05;
    const x = (n) => left + ((width - left - right) * (n + 0.5)) / points.length, y = (value) => 8 + (height - bottom - 8) * (1 - (value - low + room) / (high - low + 2 * room));
    const svg = s('svg.chart', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${column.name} of ${points.length} runs over time` });
    for (const tick of ticks(low, high, 4)) svg.append(s('line.grid', { x1: left, x2: width - right, y1: y(tick), y2: y(tick) }), s('text.tick', { x: left - 8, y: y(tick) + 4, 'text-anchor': 'end' }, String(tick)));
    svg.append(s('path.line', { d: `M${points.map(({ row }, n) => `${x(n).toFixed(1)},${y(row[0]).toFixed(1)}`).join('L')}` }));
    points.forEach(({ k, row }, n) => {
      if (isDefined(row[1])) svg.append(s('line.axis', { x1: x(n), x2: x(n), y1: y(row[1]), y2: y(row[2]) }));
      svg.append(s('circle', { cx: x(n), cy: y(row[0]), r: k === own ? 6 : 3.5 }, s('title', null, `${runs[k].name}, ${day(k)}: ${number(row[0], column.format)}`)));
    });
    const every = Math.max(1, Math.ceil((points.length * 84) / (width - left - right)));
    points.forEach(({ k }, n) => { if (n % every === 0) svg.append(s('text.tick', { x: x(n), y: height - 8, 'text-anchor': 'middle' }, day(k))); });
    replace(box, svg);
  };
  const choose = h('select', { 'aria-label': 'Metric over time', onchange: () => draw(Number(choose.value)) }, board.columns.map((column, c) => h('option', { value: c, selected: c === usual }, column.name + (column.apart ? ` (${column.apart})` : ''))));
  draw(usual);
  return h('figure.trend', null, h('figcaption', null, h('h3', null, 'Over time', choose)), box);
}

// Scores of one run, with its place among those with the same signature.
function scoresOf(k) {
  const rows = meta.boards.flatMap((board) => board.columns.flatMap((column) => {
    const values = rowsOf(column), row = values.get(k);
    if (!row) return [];
    const others = [...values.values()].map(([value]) => value).filter(isDefined), place = 1 + others.filter((value) => (column.higher ? value > row[0] : value < row[0])).length;
    return [[column.name, number(row[0], column.format), isDefined(row[1]) ? `${number(row[1], column.format)} to ${number(row[2], column.format)}` : '–', isDefined(row[0]) ? `${place} of ${others.length}` : '–']];
  }));
  return h('section', null, h('h2', null, 'Scores'), h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Scores of this run' }, h('table.plain.own', null, h('thead', null, h('tr', null, ['metric', 'value', `${100 * meta.level} % interval`, 'place'].map((head) => h('th', { scope: 'col' }, head)))),
    h('tbody', null, rows.map((row) => h('tr', null, row.map((cell, n) => (n ? h('td', null, cell) : h('th', { scope: 'row' }, cell)))))))));
}

function badgesOf(k) {
  return h('section', null, h('h2', null, 'Badges'), h('p.note', null, 'For a README: copy the address of a picture.'), h('ul.badges', null, runs[k].badges.map((badge) => {
    const address = `../badges/${encodeURIComponent(`${runs[k].slug}-${badge}.svg`)}`;
    return h('li', null, h('a', { href: address }, h('img', { src: address, alt: badge, height: 20 })));
  })));
}

function signaturesOf(k) {
  const rows = meta.boards.flatMap((board) => board.columns.filter((column) => rowsOf(column).has(k)).map((column) => h('li', null, h('code', null, column.signature))));
  return h('details.signatures', { open: true }, h('summary', null, 'How each number was made (signatures)'), h('ul', null, rows));
}

function page() {
  const boards = meta.boards.map(boardOf).filter((board) => own === null || board.members.includes(own));
  const found = h('p.note', { role: 'status' });
  const search = h('input', { type: 'search', id: 'search', placeholder: 'name of a run', autocomplete: 'off', oninput: () => {
    const text = search.value.trim().toLowerCase();
    for (const board of boards) board.filter(text);
    found.textContent = text ? `${runs.filter((run) => run.name.toLowerCase().includes(text)).length} of ${plural(runs.length, 'run')}` : '';
  } });
  const title = own === null ? meta.title : runs[own].name;
  replace(document.getElementById('app'),
    h('header.sitehead', null, h('p.kind', null, own === null ? 'captious site' : h('a', { href: '../index.html' }, '← ', words(meta.title))), h('h1', null, words(title)),
      h('p.facts', null, own === null ? `${plural(runs.length, 'run')} · ${plural(meta.boards.length, 'data set')}` : [h('time', { datetime: runs[own].time }, runs[own].time.replace('T', ' ').replace('+00:00', ' UTC')), runs[own].report && [' · ', h('a', { href: `../reports/${encodeURIComponent(runs[own].slug)}.html` }, 'Report: every caption and its scores')]]),
      own === null && h('div.find', null, h('label', { for: 'search' }, 'Search'), search, found, h('a', { href: 'feed.xml' }, 'RSS'))),
    h('main.site', { id: 'main' }, own !== null && [scoresOf(own), badgesOf(own), signaturesOf(own)], boards.map((board) => board.element)),
    h('footer.foot', null, `captious ${meta.version}. Static pages; nothing is sent anywhere.`));
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

page();
