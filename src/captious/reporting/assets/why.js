// Explanations of the scores of one caption. Each is an entry of WHY, shown if the page has a block of data of its name
// (captious/reporting/explanations.py).

const WHY = [];

// n-grams ------------------------------------------------------------------------------------------------------------

const MAX_N = 4, SIGMA = 6;

// Weights of n-grams as in CIDEr: log(images / images that have it).
const weigher = () => cached('weigher', async () => {
  const { images, grams } = await block('ngrams');
  const tables = grams.map((text) => {
    const table = new Map();
    for (const line of text ? text.split('\n') : []) {
      const tab = line.indexOf('\t');
      table.set(line.slice(tab + 1), Number(line.slice(0, tab)));
    }
    return table;
  });
  return (gram, n) => Math.log(images) - Math.log(Math.max(1, tables[n - 1].get(gram) || 0));
});

function grams(tokens, n) {
  const counts = new Map();
  for (let i = 0; i + n <= tokens.length; i += 1) {
    const gram = tokens.slice(i, i + n).join(' ');
    counts.set(gram, (counts.get(gram) || 0) + 1);
  }
  return counts;
}

// Vectors of a caption: for each n, a map from n-gram to weight, and its norm.
function vectors(tokens, idf) {
  return Array.from({ length: MAX_N }, (_, k) => {
    const weight = new Map();
    let square = 0;
    for (const [gram, times] of grams(tokens, k + 1)) {
      const one = times * idf(gram, k + 1);
      weight.set(gram, one);
      square += one * one;
    }
    return { weight, norm: Math.sqrt(square) };
  });
}

// Contributions to CIDEr-D by n-gram, by n and by reference. Each adds up to the score.
function contributions(tokens, references, idf) {
  const own = vectors(tokens, idf), points = new Map(), byN = new Array(MAX_N).fill(0);
  const byReference = references.map((theirs) => {
    const apart = Math.max(tokens.length - 1, 0) - Math.max(theirs.length - 1, 0);
    const penalty = Math.exp(-(apart * apart) / (2 * SIGMA * SIGMA));
    let total = 0;
    vectors(theirs, idf).forEach(({ weight, norm }, k) => {
      if (!(norm > 0 && own[k].norm > 0)) return;
      for (const [gram, mine] of own[k].weight) {
        const its = weight.get(gram);
        if (its === undefined) continue;
        const one = (10 * penalty * Math.min(mine, its) * its) / (norm * own[k].norm * MAX_N);
        total += one;
        byN[k] += one / references.length;
        points.set(gram, (points.get(gram) || 0) + one / references.length);
      }
    });
    return total;
  });
  return { points, byN, byReference };
}

function gramTable(title, note, rows, heads, empty) {
  const list = h('tbody'), limit = 10;
  const fillIn = (n) => replace(list, rows.slice(0, n).map((row) => h('tr', null, row.map((cell, k) => (k ? h('td', null, cell) : h('th', { scope: 'row' }, words(shorten(cell, 80))))))));
  fillIn(limit);
  const more = rows.length > limit && h('button.more', { onclick: (event) => { fillIn(200); event.target.remove(); } }, `Show ${rows.length > 200 ? '200 of ' : 'all '}${count(rows.length)}`);
  return h('div.grams', null, h('h5', null, `${title} (${count(rows.length)})`), h('p.note', null, note),
    rows.length ? h('table', null, h('thead', null, h('tr', null, heads.map((head) => h('th', { scope: 'col' }, head)))), list) : h('p.none', null, empty), more);
}

const meter = (share, kind = '') => h(`span.meter${kind}`, { 'aria-hidden': 'true' }, h('span', { css: { width: `${(100 * Math.max(0, Math.min(1, share))).toFixed(1)}%` } }));

WHY.push({
  name: 'ngrams',
  title: 'Words and n-grams',
  async render(target, { system, image, k }) {
    const idf = await weigher();
    const tokens = wordsOf(system, image, k), references = referenceWords(image);
    const { points, byN, byReference } = contributions(tokens, references, idf);
    const inReferences = Array.from({ length: MAX_N }, (_, n) => {
      const counts = new Map();
      for (const theirs of references) for (const gram of grams(theirs, n + 1).keys()) counts.set(gram, (counts.get(gram) || 0) + 1);
      return counts;
    });
    const matched = [], extra = [], missed = [];
    let heaviest = 0;
    for (let n = 1; n <= MAX_N; n += 1) {
      const own = grams(tokens, n), theirs = inReferences[n - 1];
      for (const gram of own.keys()) (theirs.has(gram) ? matched : extra).push([gram, n, idf(gram, n), theirs.get(gram) || 0, points.get(gram) || 0]);
      for (const [gram, times] of theirs) if (!own.has(gram)) missed.push([gram, n, idf(gram, n), times]);
    }
    for (const [, , weight] of [...matched, ...extra, ...missed]) heaviest = Math.max(heaviest, weight);
    matched.sort((a, b) => b[4] - a[4] || b[2] - a[2]);
    // By number of references and weight: longer n-grams of a missed word are missed, too.
    missed.sort((a, b) => b[3] * b[2] - a[3] * a[2] || a[1] - b[1]);
    extra.sort((a, b) => a[1] - b[1] || b[2] - a[2]);
    const weight = (value) => h('span.weight', null, meter(value / (heaviest || 1)), short(value, 2));
    const share = (times) => `${times} of ${references.length}`;
    const score = metricNumber.has('CIDEr-D') ? captionScore(system, metricNumber.get('CIDEr-D'), image, k) : null;
    const nearest = byReference.indexOf(Math.max(...byReference)), total = byN.reduce((a, b) => a + b, 0);
    replace(target,
      h('p.shaded', null, tokens.slice(0, 400).map((token) => {
        const times = inReferences[0].get(token) || 0;
        return [words(token, 'span', { class: `token cover${Math.ceil((4 * times) / (references.length || 1))}`, title: times ? `in ${share(times)} references` : 'in no reference' }), ' '];
      }), tokens.length > 400 && `${ELLIPSIS} ${count(tokens.length - 400)} more`, !tokens.length && h('em', null, 'no words')),
      h('p.note', null, 'The darker a word, the more references have it; a dotted line marks words that none has.'),
      h('div.parts', null,
        h('div', null, h('h5', null, 'CIDEr-D by length of n-gram'), h('p.note', null, isDefined(score) && Math.abs(total - score) > 0.005 ? `The score was made with other weights; with these they add up to ${short(total, 4)}.` : `They add up to ${short(total, 4)}.`),
          h('table', null, h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'n'), h('th', { scope: 'col' }, 'points'))), h('tbody', null, byN.map((value, n) => h('tr', null, h('th', { scope: 'row' }, n + 1), h('td', null, h('span.weight', null, meter(value / (Math.max(...byN) || 1)), short(value, 3)))))))),
        h('div', null, h('h5', null, 'Nearest reference'), h('p.note', null, 'CIDEr-D with each reference alone.'),
          h('ol.near', null, byReference.map((value, r) => h('li', { class: r === nearest && value > 0 ? 'nearest' : null }, meter(value / (Math.max(...byReference) || 1)), h('span.number', null, short(value, 2)), ' ', words(shorten(referencesOf(image)[r], 160))))))),
      h('div.three', null,
        gramTable('Matched', 'In the caption and in a reference; points of CIDEr-D.', matched.map(([gram, , w, times, p]) => [gram, weight(w), share(times), short(p, 3)]), ['n-gram', 'weight', 'references', 'points'], 'Nothing in the caption is in a reference.'),
        gramTable('Missed', 'In references and not in the caption, by number of references.', missed.map(([gram, , w, times]) => [gram, weight(w), share(times)]), ['n-gram', 'weight', 'references'], 'The caption has all that the references have.'),
        gramTable('Only here', 'In the caption and in no reference.', extra.map(([gram, , w]) => [gram, weight(w)]), ['n-gram', 'weight'], 'All of it is in some reference.')));
  },
});

// Sentences ----------------------------------------------------------------------------------------------------------

// Sentences of a text: up to a full stop, question or exclamation mark before a space, or a line break.
const sentencesOf = (text) => (text.match(/[^\n]+?(?:[.!?…]+["”')\]]*(?=\s|$)|(?=\n|$))/gu) || []).map((one) => one.trim()).filter((one) => plainWords(one).length);

WHY.push({
  name: 'sentences',
  title: 'Sentence by sentence',
  // Of the data of n-grams, where a caption has several sentences.
  needs: 'ngrams',
  applies: ({ system, image, k }) => sentencesOf(captionsOf(system, image)[k] || '').length > 1,
  async render(target, { system, image, k }) {
    const idf = await weigher(), references = referenceWords(image), inReferences = new Set(references.flat());
    const objects = meta.explanations.includes('objects') ? await block('objects') : null;
    const mentions = (objects && objects.systems[system] && objects.systems[system][image] && objects.systems[system][image][k]) || [];
    const rows = sentencesOf(captionsOf(system, image)[k]).slice(0, 200).map((text) => {
      const tokens = plainWords(text), joined = ` ${tokens.join(' ')} `, { byN } = contributions(tokens, references, idf);
      return { text, tokens, known: tokens.filter((token) => inReferences.has(token)).length, cider: byN.reduce((a, b) => a + b, 0), wrong: mentions.filter(([said, , bad]) => bad && joined.includes(` ${said} `)), right: mentions.filter(([said, , bad]) => !bad && joined.includes(` ${said} `)) };
    });
    const best = Math.max(...rows.map((row) => row.cider), 1e-9), worst = rows.reduce((a, b) => (b.known / b.tokens.length < a.known / a.tokens.length ? b : a));
    replace(target,
      h('p', null, `${plural(rows.length, 'sentence')}. Least like the references: “`, words(shorten(worst.text, 120)), `” (${worst.known} of ${plural(worst.tokens.length, 'word')} in a reference).`),
      h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Sentences' }, h('table.sentences', null,
        h('thead', null, h('tr', null, ['', 'sentence', 'words in a reference', 'CIDEr-D alone', objects ? 'objects' : null].filter((one) => one !== null).map((head) => h('th', { scope: 'col' }, head)))),
        h('tbody', null, rows.map((row, n) => h('tr', null, h('th', { scope: 'row' }, n + 1),
          h('td', null, row.tokens.map((token) => [words(token, 'span', { class: inReferences.has(token) ? 'token cover1' : 'token cover0' }), ' '])),
          h('td', null, `${row.known} of ${row.tokens.length}`), h('td', null, h('span.weight', null, meter(row.cider / best), short(row.cider, 2))),
          objects && h('td', null, h('ul.chips', null, row.wrong.map(([said]) => chip('wrong', said)), row.right.map(([said]) => chip('matched', said))))))))),
      h('p.note', null, 'CIDEr-D alone is the score of the sentence as if it were the whole caption; the scores of sentences do not add up to that of the caption. A dotted line marks words that no reference has.'));
    return target;
  },
});

// METEOR -------------------------------------------------------------------------------------------------------------

const MODULES = ['exact', 'stem', 'synonym', 'paraphrase'];

// Two lines of words with links between them.
function links(own, theirs, matches) {
  const width = (word) => Math.max(18, Math.min(220, shorten(word, 26).length * 8.1 + 14));
  const place = (line) => { let x = 0; return line.map((word) => { const at = x; x += width(word); return [at, at + width(word) - 8]; }); };
  const above = place(own), below = place(theirs);
  const end = (line) => (line.length ? line.at(-1)[1] : 0), total = Math.max(end(above), end(below), 120) + 8;
  const moved = (line) => { const shift = (total - end(line)) / 2; return line.map(([a, b]) => [a + shift, b + shift]); };
  const up = moved(above), down = moved(below), topY = 26, bottomY = 138;
  const svg = s('svg.links', { viewBox: `0 0 ${total} 160`, width: total, height: 160, css: { 'min-width': `${Math.round(total * 0.72)}px` }, role: 'img', 'aria-label': 'Words of the caption above, of the reference below, and which were matched; the list that follows says the same' });
  const hit = [new Set(), new Set()];
  for (const [i, n, j, m, kind] of matches) {
    for (let a = i; a < i + n; a += 1) hit[0].add(a);
    for (let b = j; b < j + m; b += 1) hit[1].add(b);
    if (!up[i + n - 1] || !down[j + m - 1]) continue;
    const x1 = (up[i][0] + up[i + n - 1][1]) / 2, x2 = (down[j][0] + down[j + m - 1][1]) / 2, name = MODULES[kind];
    const title = `${own.slice(i, i + n).join(' ')} – ${theirs.slice(j, j + m).join(' ')} (${name})`;
    svg.append(s(`path.link.${name}`, { d: `M${x1},${topY + 10}C${x1},${topY + 56} ${x2},${bottomY - 62} ${x2},${bottomY - 18}` }, s('title', null, title)));
    for (const [line, y, first, size] of [[up, topY + 8, i, n], [down, bottomY - 16, j, m]]) svg.append(s(`line.under.${name}`, { x1: line[first][0], x2: line[first + size - 1][1], y1: y, y2: y }));
  }
  const write = (line, spots, y, own) => line.forEach((word, n) => svg.append(s(own.has(n) ? 'text.word' : 'text.word.unmatched', { x: (spots[n][0] + spots[n][1]) / 2, y, 'text-anchor': 'middle' }, shorten(word, 26))));
  write(own, up, topY, hit[0]);
  write(theirs, down, bottomY, hit[1]);
  return svg;
}

function chunks(matches) {
  let total = 0, ended = null;
  for (const [i, n, j, m] of matches) {
    if (!ended || ended[0] !== i || ended[1] !== j) total += 1;
    ended = [i + n, j + m];
  }
  return total;
}

WHY.push({
  name: 'meteor',
  title: 'METEOR’s alignment',
  async render(target, { system, image, k }) {
    const stored = await block('meteor');
    const row = stored.systems[system] && stored.systems[system][image] && stored.systems[system][image][k];
    if (!row) return replace(target, h('p.none', null, 'There is no alignment of this caption.'));
    const [reference, flat, ownWords, theirWords] = row;
    const own = ownWords === undefined ? wordsOf(system, image, k) : split(ownWords, ''), theirs = theirWords === undefined ? referenceWords(image)[reference] : split(theirWords, '');
    const matches = [];
    for (let at = 0; at < flat.length; at += 5) matches.push(flat.slice(at, at + 5));
    const matched = matches.reduce((total, [, n]) => total + n, 0), limit = 300;
    replace(target,
      h('p', null, `${count(matched)} of ${plural(own.length, 'word')} matched in ${plural(chunks(matches), 'chunk')}, with reference ${reference + 1} of ${referencesOf(image).length}. Fewer chunks are better: the order is the reference’s.`),
      h('ul.legend', { 'aria-label': 'Kinds of matches' }, MODULES.map((name) => h('li', null, s('svg', { viewBox: '0 0 26 8', width: 26, height: 8, 'aria-hidden': 'true' }, s(`path.link.${name}`, { d: 'M1,4H25' })), ` ${name}`))),
      h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Alignment' }, links(own.slice(0, limit), theirs.slice(0, limit), matches.filter(([i, n, j, m]) => i + n <= limit && j + m <= limit))),
      (own.length > limit || theirs.length > limit) && h('p.note', null, `The first ${limit} words are drawn.`),
      h('details.numbers', null, h('summary', null, 'Matches as a list'), h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Matches' }, plainTable(['caption', 'reference', 'by'], matches.slice(0, 500).map(([i, n, j, m, kind]) => [own.slice(i, i + n).join(' '), theirs.slice(j, j + m).join(' '), MODULES[kind]])))));
    return target;
  },
});

// Scene graphs -------------------------------------------------------------------------------------------------------

const KINDS = ['Objects', 'Attributes', 'Relations'];
const saying = (tuple) => (tuple.length === 1 ? tuple[0] : tuple.length === 2 ? `${tuple[1]} ${tuple[0]}` : tuple.join(' '));
const SIGNS = { matched: '✓', wrong: '✗', missed: '○' };
const chip = (kind, text) => h(`li.chip.${kind}`, null, h('span', { 'aria-hidden': 'true' }, SIGNS[kind]), h('span.spoken', null, `${kind}: `), words(shorten(text, 120)));

const HALF_NODE = 15;

// Point where the line from a node's centre to (x, y) leaves the node, a rectangle with round ends, and `gap` beyond it.
function border(node, x, y, gap) {
  const far = Math.hypot(x - node.x, y - node.y) || 1, ux = (x - node.x) / far, uy = (y - node.y) / far, flat = node.half - HALF_NODE;
  // Above or below the straight part, or on one of the round ends.
  let out = Math.abs(uy) > 1e-9 ? HALF_NODE / Math.abs(uy) : Infinity;
  if (Math.abs(ux) * out > flat) out = Math.abs(ux) * flat + Math.sqrt(Math.max(0, HALF_NODE ** 2 - (uy * flat) ** 2));
  return [node.x + ux * (out + gap), node.y + uy * (out + gap)];
}

// Scene graph of the caption: objects in a ring, relations as arrows. Colour and sign show whether the references confirm them.
function graph(tuples, hits) {
  const objects = new Map();
  tuples.forEach((tuple, n) => { if (tuple.length === 1) objects.set(tuple[0], { name: tuple[0], hit: hits[n] === '1', attributes: [] }); });
  const nodes = [...objects.values()].slice(0, 12);
  if (nodes.length < 2) return null;
  tuples.forEach((tuple, n) => { if (tuple.length === 2) objects.get(tuple[0])?.attributes.push([tuple[1], hits[n] === '1']); });
  const width = 620, height = 120 + 46 * Math.ceil(nodes.length / 2), cx = width / 2, cy = height / 2;
  nodes.forEach((node, n) => {
    const angle = Math.PI + (2 * Math.PI * n) / nodes.length;
    node.label = `${SIGNS[node.hit ? 'matched' : 'wrong']} ${shorten(node.name, 14)}`;
    node.half = Math.max(34, node.label.length * 4.4 + 10);
    node.x = cx + (width / 2 - 92) * Math.cos(angle);
    node.y = cy + (height / 2 - 40) * Math.sin(angle);
  });
  const svg = s('svg.scene', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Scene graph of the caption; the lists that follow say the same' },
    s('defs', null, ['matched', 'wrong'].map((kind) => s('marker', { id: `arrow-${kind}`, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, s(`path.head.${kind}`, { d: 'M0,0L8,4L0,8z' })))));
  const taken = new Map();
  tuples.forEach((tuple, n) => {
    if (tuple.length !== 3) return;
    const from = objects.get(tuple[0]), to = objects.get(tuple[2]);
    if (!from || !to || from.x === undefined || to.x === undefined || from === to) return;
    const pair = [tuple[0], tuple[2]].sort().join('\n'), turn = taken.get(pair) || 0;
    taken.set(pair, turn + 1);
    const kind = hits[n] === '1' ? 'matched' : 'wrong';
    // The curve bends at (mx, my) and is cut at the borders of both nodes.
    const dx = to.x - from.x, dy = to.y - from.y, far = Math.hypot(dx, dy) || 1, bend = 14 + 22 * turn;
    const mx = (from.x + to.x) / 2 - (dy / far) * bend, my = (from.y + to.y) / 2 + (dx / far) * bend;
    const [x1, y1] = border(from, mx, my, 0), [x2, y2] = border(to, mx, my, 2);
    svg.append(s(`path.edge.${kind}`, { d: `M${x1},${y1}Q${mx},${my} ${x2},${y2}`, 'marker-end': `url(#arrow-${kind})` }));
    svg.append(s(`text.edge.${kind}`, { x: (x1 + 2 * mx + x2) / 4, y: (y1 + 2 * my + y2) / 4 + 4, 'text-anchor': 'middle' }, `${shorten(tuple[1], 22)} ${SIGNS[kind]}`));
  });
  for (const node of nodes) {
    const kind = node.hit ? 'matched' : 'wrong';
    svg.append(s(`rect.node.${kind}`, { x: node.x - node.half, y: node.y - HALF_NODE, width: 2 * node.half, height: 2 * HALF_NODE, rx: HALF_NODE }));
    svg.append(s('text.node', { x: node.x, y: node.y + 5, 'text-anchor': 'middle' }, node.label));
    node.attributes.slice(0, 3).forEach(([text, hit], n) => svg.append(s(`text.attribute.${hit ? 'matched' : 'wrong'}`, { x: node.x, y: node.y + 31 + 15 * n, 'text-anchor': 'middle' }, `${shorten(text, 18)} ${SIGNS[hit ? 'matched' : 'wrong']}`)));
  }
  return svg;
}

WHY.push({
  name: 'scenes',
  title: 'Scene graph (SPICE)',
  async render(target, { system, image, k }) {
    const stored = await block('scenes');
    const row = stored.systems[system] && stored.systems[system][image] && stored.systems[system][image][k];
    if (!row) return replace(target, h('p.none', null, 'There is no scene graph of this caption.'));
    const [numbers, hits, covered] = row, own = numbers.map((n) => stored.tuples[n]), theirs = (stored.refs[image] || []).map((n) => stored.tuples[n]);
    const right = [...hits].filter((bit) => bit === '1').length;
    const precision = own.length ? right / own.length : 0, recall = theirs.length ? right / theirs.length : 0;
    replace(target,
      h('p', null, `${right} of the caption’s ${own.length} facts are in the references (precision ${short(precision, 2)}), which state ${theirs.length} (recall ${short(recall, 2)}). SPICE is the harmonic mean: ${short(right ? (2 * precision * recall) / (precision + recall) : 0, 3)}.`),
      h('ul.legend', { 'aria-label': 'Signs' }, h('li', null, '✓ in caption and references'), h('li', null, '✗ only in the caption'), h('li', null, '○ only in the references')),
      graph(own, hits),
      h('div.three', null, KINDS.map((title, n) => {
        const mine = own.map((tuple, at) => [tuple, hits[at] === '1' ? 'matched' : 'wrong']).filter(([tuple]) => tuple.length === n + 1);
        const gone = theirs.map((tuple, at) => [tuple, covered[at]]).filter(([tuple, bit]) => tuple.length === n + 1 && bit === '0');
        const rank = { matched: 0, wrong: 1 };
        mine.sort((a, b) => rank[a[1]] - rank[b[1]]);
        return h('div', null, h('h5', null, title), h('ul.chips', null, mine.slice(0, 200).map(([tuple, kind]) => chip(kind, saying(tuple))), gone.slice(0, 60).map(([tuple]) => chip('missed', saying(tuple)))), !mine.length && !gone.length && h('p.none', null, 'None.'));
      })));
    return target;
  },
});

// Objects ------------------------------------------------------------------------------------------------------------

WHY.push({
  name: 'objects',
  title: 'Objects (CHAIR)',
  async render(target, { system, image, k }) {
    const stored = await block('objects');
    const named = (stored.systems[system] && stored.systems[system][image] && stored.systems[system][image][k]) || [];
    const there = stored.images[image] || [], seen = new Set(named.map((mention) => mention[1]));
    const where = stored.given ? 'in the image or its references' : 'named by a reference';
    const wrong = named.filter((mention) => mention[2]).length;
    replace(target,
      h('p', null, named.length ? `${wrong} of ${plural(named.length, 'object')} that the caption names ${wrong === 1 ? 'is' : 'are'} not ${where}.` : 'The caption names no object of the table.'),
      h('div.three', null,
        h('div', null, h('h5', null, 'Named by the caption'), h('ul.chips', null, named.slice(0, 200).map(([text, kind, bad]) => chip(bad ? 'wrong' : 'matched', text === kind ? text : `${text} (${kind})`))), !named.length && h('p.none', null, 'None.')),
        h('div', null, h('h5', null, 'There, and not named'), h('ul.chips', null, there.filter((kind) => !seen.has(kind)).map((kind) => chip('missed', kind))), there.every((kind) => seen.has(kind)) && h('p.none', null, 'None.'))));
  },
});

// Learned metrics ----------------------------------------------------------------------------------------------------

// Log odds of standardised features, as captious.metrics.learned.network computes them.
function logOdds(layers, standardised) {
  let values = standardised;
  layers.forEach(([weights, bias], number) => {
    const next = bias.slice();
    for (let i = 0; i < values.length; i += 1) if (values[i] !== 0) for (let j = 0; j < next.length; j += 1) next[j] += values[i] * weights[i][j];
    values = number < layers.length - 1 ? next.map((value) => Math.max(0, value)) : next;
  });
  return values.length === 2 ? values[1] - values[0] : values[0];
}

// Contribution of each feature to the log odds, from the mean training example to the caption, as in
// captious.metrics.learned.contributions: the mean step over many orders of setting the features. The contributions add up.
function shares({ layers, orders }, own) {
  const moved = new Array(own.length).fill(0), start = logOdds(layers, own.map(() => 0));
  for (const one of orders) {
    for (const order of [one, [...one].reverse()]) {
      const now = own.map(() => 0);
      let last = start;
      for (const feature of order) {
        now[feature] = own[feature];
        const next = logOdds(layers, now);
        moved[feature] += (next - last) / (2 * orders.length);
        last = next;
      }
    }
  }
  return { start, moved };
}

const probability = (odds) => 1 / (1 + Math.exp(-odds));
const signed = (value, digits = 2) => number(value, `+.${digits}f`);

// From the mean example to the caption, on a line from 0 to 1.
function way(start, end) {
  const at = (value) => `${(100 * value).toFixed(1)}%`, label = (value) => `clamp(4.6rem, ${at(value)}, calc(100% - 4.6rem))`, kind = end >= start ? 'up' : 'down';
  return h('div.way', { role: 'img', 'aria-label': `From ${short(start)} to ${short(end)}` },
    h('span.of', { css: { left: label(end) } }, h('strong', null, short(end)), ' this caption'),
    h('span.rail', null, h(`span.gone.${kind}`, { css: { left: at(Math.min(start, end)), width: at(Math.abs(end - start)) } }), h('span.dot.from', { css: { left: at(start) } }), h(`span.dot.${kind}`, { css: { left: at(end) } })),
    h('span.of', { css: { left: label(start) } }, `${short(start)} average example`));
}

// A bar to the right of zero or to the left of it.
function diverging(value, low, high) {
  const at = (x) => (100 * (x - low)) / (high - low), from = Math.min(at(0), at(value));
  return h('span.diverging', { 'aria-hidden': 'true' }, h(`span.${value >= 0 ? 'up' : 'down'}`, { css: { left: `${from.toFixed(2)}%`, width: `${Math.abs(at(value) - at(0)).toFixed(2)}%` } }), h('span.zero', { css: { left: `${at(0).toFixed(2)}%` } }));
}

const lower = (text) => (/^[A-Z][a-z]*,? /.test(text) ? text[0].toLowerCase() + text.slice(1) : text);
const spoken = (list) => (list.length > 1 ? `${list.slice(0, -1).join(', ')} and ${list.at(-1)}` : list[0]);

WHY.push({
  name: 'learned',
  title: 'Learned scores',
  async render(target, { system, image, k }) {
    const stored = await block('learned'), own = stored.systems[system], names = Object.keys(own);
    if (!names.length) return replace(target, h('p.none', null, 'This system has no learned score that can be explained.'));
    const name = names.includes(state.learned) ? state.learned : names[0], [which, columns] = own[name], network = stored.networks[which];
    const raw = columns.map((column, f) => {
      const value = listed(stored.columns[column][image])[k];
      return isDefined(value) ? value / 10 ** network.features[f].digits : null;
    });
    const standardised = raw.map((value, f) => {
      const { mean, scale, low = -Infinity, high = Infinity } = network.features[f];
      return value === null ? 0 : (Math.min(Math.max(value, low), high) - mean) / scale;
    });
    const { start, moved } = shares(network, standardised), begin = probability(start);
    const score = captionScore(system, metricNumber.get(name), image, k);
    const rows = network.features.map((feature, f) => ({ ...feature, value: raw[f], share: moved[f] }));
    rows.sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
    const low = Math.min(0, ...moved), high = Math.max(low + 1e-9, 0, ...moved), named = (row) => `${lower(row.label)} (${signed(row.share)})`;
    // Features with the same label count as one.
    const most = (sign) => rows.filter((row, n) => sign * row.share >= 0.05 && rows.findIndex((other) => other.label === row.label && sign * other.share >= 0.05) === n).slice(0, 2), best = most(1), worst = most(-1);
    const limit = 8, body = h('tbody', { role: 'rowgroup' });
    const draw = (n) => replace(body, rows.slice(0, n).map((row) => h('tr', { role: 'row' },
      h('th', { scope: 'row', role: 'rowheader' }, row.label, ' ', h('small', null, row.note)),
      h('td', { role: 'cell' }, row.value === null ? 'undefined' : short(row.sign * row.value)), h('td.mean', { role: 'cell' }, short(row.sign * row.mean)),
      h('td.share', { role: 'cell' }, diverging(row.share, low, high), h('span.number', null, signed(row.share))))));
    draw(limit);
    const rest = rows.slice(limit).reduce((total, row) => total + row.share, 0);
    replace(target,
      names.length > 1 && h('div.choice', { role: 'group', 'aria-label': 'Learned metric' }, names.map((one) => h('button', { 'data-learned': one, 'aria-pressed': one === name ? 'true' : 'false', onclick: () => { go({ learned: one }); focusOn(`[data-learned="${CSS.escape(one)}"]`); } }, one))),
      h('p', null, `${name} would give the average of its training examples ${short(begin)}; it gives this caption ${short(score)}. `,
        best.length ? `What raised it most: ${spoken(best.map(named))}. ` : 'Nothing raised it much. ', worst.length ? `What lowered it most: ${spoken(worst.map(named))}.` : 'Nothing lowered it much.'),
      way(begin, isDefined(score) ? score : begin),
      h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': `Features of ${name}` }, h('table.shares', { role: 'table' },
        h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, ['feature', 'here', 'average', 'moved the score'].map((head) => h('th', { scope: 'col', role: 'columnheader' }, head)))), body)),
      rows.length > limit && h('button.more', { onclick: (event) => { draw(rows.length); event.target.remove(); } }, `Show all ${rows.length} features (the other ${rows.length - limit} move it ${signed(rest)})`),
      h('p.note', null, `Log odds: they add up to ${signed(moved.reduce((a, b) => a + b, 0), 3)}, the way from ${short(begin)} to ${short(score)}; +0.69 doubles the odds, −0.69 halves them. `,
        raw.includes(null) && 'What is undefined counts as average. ', 'Features that see nearly the same share the credit, and may pull against each other: read them together.'));
    return target;
  },
});
