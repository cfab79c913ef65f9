// Comparison of two systems: verdict, images, and words.

const compare = {
  name: 'compare',
  title: 'Compare',
  build(section) {
    const options = systems.map((system, k) => [String(k), system.name]);
    this.a = select('A', options, '0', (value) => go({ a: value }));
    this.b = select('B', options, '1', (value) => go({ b: value }));
    this.metric = select('by', perImage.map((m) => [metrics[m].name, metrics[m].name]), metrics[chosenMetric()].name, (value) => go({ metric: value }));
    this.body = h('div');
    section.append(h('div.choices', null, this.a, this.b, this.metric, h('button', { onclick: () => go({ a: this.pair()[1], b: this.pair()[0] }) }, 'Swap')), this.body);
  },
  pair() {
    const inside = (text, usual) => { const k = Number(text); return text !== '' && systems[k] ? k : usual; };
    return [inside(state.a, 0), inside(state.b, Math.min(1, systems.length - 1))];
  },
  update() {
    const [a, b] = this.pair(), m = chosenMetric(), metric = metrics[m];
    const key = [a, b, m].join(' ');
    if (key === this.drawn) return;
    this.drawn = key;
    this.a.field.value = String(a);
    this.b.field.value = String(b);
    this.metric.field.value = metric.name;
    const first = column(a, m), second = column(b, m), apart = everywhere((i) => second[i] - first[i]);
    const both = [...apart.keys()].filter((i) => isDefined(apart[i]));
    if (!both.length || a === b) {
      replace(this.body, h('p.hint', null, a === b ? 'Choose two different systems.' : 'These systems have no image with this score in common.'));
      return;
    }
    const better = metric.higher ? 1 : -1;
    const wins = both.filter((i) => better * apart[i] > 0).length, losses = both.filter((i) => better * apart[i] < 0).length;
    const [gains, worse] = wordLists(both, apart, a, b, better);
    replace(this.body, verdict(a, b, metric, m),
      h('div.pair', null,
        h('div.stack', null, balance(a, b, metric, wins, losses, both.length), gains, extremes(b, both, apart, a, b, m, better)),
        h('div.stack', null, histogram(both.map((i) => apart[i]), a, b, metric), worse, extremes(a, both, apart, a, b, m, -better))));
  },
};

function balance(a, b, metric, wins, losses, total) {
  const equal = total - wins - losses;
  return figure('Images won and lost', null, h('div', null,
    h('div.wins', { role: 'img', 'aria-label': `${systems[b].name} is better on ${wins} images, ${systems[a].name} on ${losses}, equal on ${equal}` }, part(look(a).colour, losses, total), part('tie', equal, total), part(look(b).colour, wins, total)),
    h('ul.legend', null, h('li', null, named(a, systems[a].name, 30), h('span', null, ` better on ${count(losses)}`)), equal > 0 && h('li', null, `equal on ${count(equal)}`), h('li', null, named(b, systems[b].name, 30), h('span', null, ` better on ${count(wins)}`)))), null,
  h('div.tools', null,
    h('button', { onclick: () => go({ view: 'images', sort: 'difference', of: b, minus: a, up: metric.higher ? '' : '1', metric: metric.name, image: '' }, true) }, 'Images by difference'),
    h('button', { onclick: () => go({ view: 'images', differ: '1', image: '' }, true) }, 'Images where captions differ')));
}

function part(kind, n, total) {
  return n ? h(`span.${kind}`, { css: { width: `${(100 * n) / total}%` } }, n / total > 0.08 ? `${Math.round((100 * n) / total)} %` : '') : null;
}

function verdict(a, b, metric, m) {
  const row = (meta.pairs[metric.name] || []).find(([x, y]) => (x === a && y === b) || (x === b && y === a));
  const names = [named(a, systems[a].name, 30), named(b, systems[b].name, 30)];
  const values = [number(metric.values[a], metric.format), number(metric.values[b], metric.format)];
  if (!row) return h('p.verdict', null, names[0], ` has ${values[0]} and `, names[1], ` ${values[1]} by ${metric.name}; the two values cannot be compared.`);
  const turned = row[0] !== a, sense = turned ? -1 : 1, difference = row[2] * sense;
  const [low, high] = turned ? [-row[4], -row[3]] : [row[3], row[4]], ahead = row[8] === 0 ? null : row[row[8] - 1];
  return h('div', null,
    h('p.verdict', null, ahead === null
      ? [names[0], ' and ', names[1], ` do not differ significantly by ${metric.name}.`]
      : [h('strong', null, ahead === a ? names[0] : names[1]), ' is better than ', ahead === a ? names[1] : names[0], ` by ${metric.name} (p ${pText(row[7])}).`]),
    h('p', null, `B − A = ${number(difference, `+${metric.format}`)} (${number(low, `+${metric.format}`)} to ${number(high, `+${metric.format}`)}, ${100 * (1 - meta.alpha)} % interval): ${values[1]} against ${values[0]}${metric.higher ? '' : ', lower is better'}.`),
    h('p.note', null, `Paired tests on the same images: randomisation p ${pText(row[6])}, corrected for ${plural(meta.family, 'comparison')} p ${pText(row[7])} (Holm); bootstrap p ${pText(row[5])}.`));
}
const pText = (value) => (isDefined(value) && value < 0.001 ? '< 0.001' : `= ${pValue(value)}`);

function histogram(values, a, b, metric) {
  const reach = Math.max(...values.map(Math.abs), 1e-9), sorted = values.map(Math.abs).sort((x, y) => x - y);
  // Clip a few extremes, so that the other bars stay readable.
  const limit = Math.min(reach, (sorted[Math.floor(0.99 * (sorted.length - 1))] || reach) * 1.15) || reach, half = 15;
  const bins = new Array(2 * half + 1).fill(0);
  for (const value of values) bins[half + Math.max(-half, Math.min(half, Math.round((value / limit) * half)))] += 1;
  const chart = frame({ x: [-limit * (1 + 0.6 / half), limit * (1 + 0.6 / half)], y: [0, Math.max(...bins) * 1.05], xLabel: `difference of ${metric.name}, B − A`, yLabel: 'images', height: 300, label: `Distribution of the differences of ${metric.name}` });
  const width = chart.px(limit / half) - chart.px(0);
  bins.forEach((n, at) => {
    const value = ((at - half) / half) * limit, side = at === half ? 'tie' : (value > 0) === metric.higher ? look(b).colour : look(a).colour;
    if (n) chart.svg.append(s(`rect.bar.${side}`, { x: chart.px(value) - width / 2 + 0.75, width: Math.max(1, width - 1.5), y: chart.py(n), height: chart.py(0) - chart.py(n), rx: 1 }, s('title', null, `${plural(n, 'image')} about ${short(value, 2)}`)));
  });
  chart.svg.append(s('line.axis', { x1: chart.px(0), x2: chart.px(0), y1: chart.topSpace, y2: chart.height - chart.bottom }));
  return figure('Differences, image by image', 'Bars on either side have the colour of the system that is better there; the outermost hold all beyond.', chart.svg, { head: ['difference', 'images'], rows: bins.map((n, at) => [short(((at - half) / half) * limit, 3), String(n)]) });
}

// Words that only B uses, with the mean change of the score where it does. They are ranked by the distance of that mean from
// the change over all images, in standard errors, so that frequent words do not dominate.
function wordLists(both, apart, a, b, better) {
  const tally = new Map(), overall = mean(both.map((i) => better * apart[i]));
  const spread = Math.sqrt(mean(both.map((i) => (better * apart[i] - overall) ** 2))) || 1;
  const saidBy = (k, i) => new Set(captionsOf(k, i).flatMap((_, c) => wordsOf(k, i, c)));
  for (const i of both) {
    const theirs = saidBy(a, i);
    for (const word of saidBy(b, i)) {
      if (theirs.has(word)) continue;
      const row = tally.get(word) || [0, 0];
      row[0] += 1;
      row[1] += better * apart[i];
      tally.set(word, row);
    }
  }
  const list = (title, note, sense) => {
    const rows = [...tally].map(([word, [n, total]]) => [word, n, total / n, (total / n - overall) * Math.sqrt(n) / spread])
      .filter(([, n, gain]) => n >= Math.min(3, both.length / 20) && sense * gain > 0).sort((x, y) => sense * (y[3] - x[3])).slice(0, 12);
    return figure(title, note, rows.length ? h('table.wordlist', null, h('thead', null, h('tr', null, ['word', 'images', 'mean change', 'total'].map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', null, rows.map(([word, n, gain]) => h('tr', null, h('th', { scope: 'row' }, h('button', { title: 'Show these images', onclick: () => go({ view: 'images', q: word, whole: '1', within: 'captions', image: '' }, true) }, words(shorten(word, 40)))), h('td', null, count(n)), h('td', null, number(gain, '+.3f')), h('td', null, number(gain * n, '+.2f')))))) : h('p.none', null, 'None.'));
  };
  const name = shorten(systems[b].name, 30);
  return [list(`Words with which ${name} gains`, `Said by ${name} and not by the other, where that goes with a better score. The most striking come first.`, 1), list(`Words with which ${name} loses`, `Said by ${name} and not by the other, where that goes with a worse score.`, -1)];
}

function extremes(winner, both, apart, a, b, m, sense) {
  const rows = both.filter((i) => sense * apart[i] > 0).sort((x, y) => sense * (apart[y] - apart[x])).slice(0, 5);
  return figure(`Where ${shorten(systems[winner].name, 30)} wins most`, null, rows.length ? h('table.wordlist', null, h('thead', null, h('tr', null, ['image', 'captions', 'B − A'].map((head) => h('th', { scope: 'col' }, head)))),
    h('tbody', null, rows.map((i) => h('tr', null, h('th', { scope: 'row' }, h('button', { onclick: () => go({ view: 'images', image: data.ids[i], system: winner, caption: '0' }, true) }, words(shorten(data.ids[i], 24)))),
      h('td', null, [a, b].map((k) => h('div', null, sign(k), ' ', words(shorten(captionsOf(k, i)[0] ?? '', 110))))), h('td', null, number(apart[i], '+.3f')))))) : h('p.none', null, 'None.'));
}
