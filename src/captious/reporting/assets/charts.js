// Figures in SVG. Colours are those of Okabe and Ito. Systems also differ in marker and dash.

const DASHES = ['', '7 4', '2 3', '9 3 2 3', '12 4', '4 2', '1 4'];
const PEOPLE = 'people';

// Look of a system in all figures: class of the colour, marker, dash.
function look(k) {
  return k === PEOPLE ? { colour: 'people', marker: 7, dash: '' } : { colour: `s${k % 7}`, marker: (k + Math.floor(k / 7)) % 7, dash: DASHES[(k + Math.floor(k / 7)) % 7] };
}

const MARKERS = [
  (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
  (r) => `M${-r * 0.88},${-r * 0.88}h${r * 1.76}v${r * 1.76}h${-r * 1.76}z`,
  (r) => `M0,${-r * 1.1}L${r * 1.1},${r * 0.85}H${-r * 1.1}z`,
  (r) => `M0,${-r * 1.25}L${r * 1.25},0L0,${r * 1.25}L${-r * 1.25},0z`,
  (r) => `M0,${r * 1.1}L${r * 1.1},${-r * 0.85}H${-r * 1.1}z`,
  (r) => `M${-r * 0.38},${-r}h${r * 0.76}v${r * 0.62}h${r * 0.62}v${r * 0.76}h${-r * 0.62}v${r * 0.62}h${-r * 0.76}v${-r * 0.62}h${-r * 0.62}v${-r * 0.76}h${r * 0.62}z`,
  (r) => `M0,${-r * 1.15}L${r * 1.1},${-r * 0.3}L${r * 0.7},${r}H${-r * 0.7}L${-r * 1.1},${-r * 0.3}z`,
  (r) => star(r * 1.35),
];
function star(r) {
  const points = [];
  for (let k = 0; k < 10; k += 1) {
    const angle = -Math.PI / 2 + (k * Math.PI) / 5, radius = k % 2 ? r * 0.42 : r;
    points.push(`${(radius * Math.cos(angle)).toFixed(2)},${(radius * Math.sin(angle)).toFixed(2)}`);
  }
  return `M${points.join('L')}z`;
}

function marker(k, x, y, r = 5, title = '') {
  const { colour, marker: shape } = look(k);
  return s(`path.mark.${colour}`, { d: MARKERS[shape](r), transform: `translate(${x},${y})` }, title && s('title', null, title));
}

// Marker of a system, for use in text beside its name.
function sign(k) {
  return s('svg.sign', { viewBox: '-8 -8 16 16', width: 14, height: 14, 'aria-hidden': 'true' }, marker(k, 0, 0, 6));
}

function named(k, name, limit = 40) {
  return h('span.named', { title: name.length > limit ? name : null }, sign(k), words(shorten(name, limit)));
}

// Figure with title, note, drawing, and a table of its numbers for readers who cannot see it.
function figure(title, note, drawing, table, extra = null) {
  const parts = [h('figcaption', null, h('h3', null, title), note && h('p.note', null, note)), drawing];
  if (table) parts.push(h('details.numbers', null, h('summary', null, 'Numbers'), h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': `Numbers of the figure ${title}` }, plainTable(table.head, table.rows))));
  return h('figure', null, parts, extra);
}

function plainTable(head, rows) {
  return h('table.plain', null,
    h('thead', null, h('tr', null, head.map((cell) => h('th', { scope: 'col' }, cell)))),
    h('tbody', null, rows.map((row) => h('tr', null, row.map((cell, k) => (k ? h('td', null, cell) : h('th', { scope: 'row' }, cell)))))));
}

function legend(entries) {
  return h('ul.legend', { 'aria-label': 'Systems' }, entries.map(({ k, name }) => h('li', null, named(k, name, 32))));
}

const plainNumber = (value) => String(value).replace('-', '−');

// Figures are drawn at the available width, so that text keeps its size.
const roomFor = (most) => Math.max(300, Math.min(most, document.documentElement.clientWidth - 70));

// Axes, with functions that map values to positions.
function frame({ width = roomFor(600), height = 340, x, y, xLabel, yLabel, left = 62, bottom = 44, topSpace = 12, right = 16, xFormat, yFormat, xTicks, yTicks, label }) {
  const px = (value) => left + ((value - x[0]) / (x[1] - x[0] || 1)) * (width - left - right);
  const py = (value) => height - bottom - ((value - y[0]) / (y[1] - y[0] || 1)) * (height - bottom - topSpace);
  const svg = s('svg.chart', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
  for (const tick of yTicks || ticks(y[0], y[1])) {
    svg.append(s('line.grid', { x1: left, x2: width - right, y1: py(tick), y2: py(tick) }));
    svg.append(s('text.tick', { x: left - 8, y: py(tick) + 4, 'text-anchor': 'end' }, yFormat ? yFormat(tick) : plainNumber(tick)));
  }
  // Labels of ticks need about 60 pixels each.
  for (const tick of xTicks || ticks(x[0], x[1], Math.max(2, Math.min(6, Math.floor((width - left - right) / 60))))) {
    svg.append(s('line.grid.faint', { x1: px(tick), x2: px(tick), y1: topSpace, y2: height - bottom }));
    svg.append(s('text.tick', { x: px(tick), y: height - bottom + 17, 'text-anchor': 'middle' }, xFormat ? xFormat(tick) : plainNumber(tick)));
  }
  svg.append(s('line.axis', { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
  if (xLabel) svg.append(s('text.label', { x: (left + width - right) / 2, y: height - 6, 'text-anchor': 'middle' }, xLabel));
  if (yLabel) svg.append(s('text.label', { transform: `translate(13,${(topSpace + height - bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle' }, yLabel));
  return { svg, px, py, width, height, left, right, bottom, topSpace };
}

function lines(series, options) {
  const xs = series.flatMap((one) => one.x), ys = series.flatMap((one) => one.y).filter(isDefined);
  const chart = frame({ x: [options.x0 ?? Math.min(...xs), Math.max(...xs)], y: [0, Math.max(...ys) * 1.04 || 1], ...options });
  for (const one of series) {
    const style = look(one.k);
    const points = one.x.map((value, i) => [value, one.y[i]]).filter(([, value]) => isDefined(value));
    chart.svg.append(s(`path.line.${style.colour}`, { d: `M${points.map(([a, b]) => `${chart.px(a).toFixed(1)},${chart.py(b).toFixed(1)}`).join('L')}`, 'stroke-dasharray': style.dash || null }, s('title', null, one.name)));
    const every = Math.max(1, Math.round(points.length / 7));
    points.forEach(([a, b], i) => {
      if (i % every === 0 || i === points.length - 1) chart.svg.append(marker(one.k, chart.px(a), chart.py(b), 4.5, `${one.name}: ${options.yFormat ? options.yFormat(b) : b}`));
    });
  }
  return chart.svg;
}

// Grouped bars: one group per category, one bar per series.
function bars(categories, series, options) {
  const highest = Math.max(...series.flatMap((one) => one.y).filter(isDefined), 1e-9);
  const chart = frame({ x: [-0.5, categories.length - 0.5], y: [0, highest * 1.06], xTicks: categories.map((_, i) => i), xFormat: (i) => categories[i], ...options });
  const step = chart.px(1) - chart.px(0), width = (step * 0.8) / series.length;
  series.forEach((one, n) => one.y.forEach((value, i) => {
    if (!isDefined(value)) return;
    const x = chart.px(i) - step * 0.4 + n * width, y = chart.py(value);
    chart.svg.append(s(`rect.bar.${look(one.k).colour}`, { x, y, width: Math.max(1, width - 1.5), height: Math.max(0.5, chart.py(0) - y), rx: 1 },
      s('title', null, `${one.name}, ${categories[i]}: ${options.yFormat ? options.yFormat(value) : value}`)));
  }));
  return chart.svg;
}
