// Data of the page: metadata at once, and blocks that are unpacked on demand.

// A page may have several data sets. The link names the one that is shown (#data=1); another one loads the page anew.
const whole = JSON.parse(document.getElementById('data-meta').textContent);
const sets = whole.datasets || [{ name: '', meta: whole }];
const setNumber = () => { const text = new URLSearchParams(location.hash.slice(1)).get('data') || '0'; return /^\d{1,3}$/.test(text) && Number(text) < sets.length ? Number(text) : 0; };
const shownSet = setNumber();
const meta = sets[shownSet].meta;
addEventListener('hashchange', () => { if (setNumber() !== shownSet) location.reload(); });
const systems = meta.systems;
const metrics = meta.metrics;
const metricNumber = new Map(metrics.map((metric, m) => [metric.name, m]));

// A group of images as text: number of the column, a dot, number of the group.
function isGroup(text) {
  const [column, group] = /^\d{1,3}\.\d{1,3}$/.test(text) ? text.split('.').map(Number) : [];
  return Boolean(meta.facets[column] && meta.facets[column].groups[group]);
}

const unpacked = new Map();

function block(name) {
  if (!unpacked.has(name)) unpacked.set(name, unpack(name));
  return unpacked.get(name);
}

async function unpack(name) {
  const element = document.getElementById(whole.datasets ? `data-${shownSet}-${name}` : `data-${name}`);
  if (!element) return null;
  const text = element.textContent;
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  element.remove();
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return JSON.parse(await new Response(stream).text());
}

// Filled by `load`, before anything but the leaderboard is drawn.
const data = { ids: [], refs: null, texts: [], scores: [] };

async function load() {
  const [captions, scores] = await Promise.all([block('captions'), block('scores')]);
  Object.assign(data, captions, { scores });
  data.number = new Map(data.ids.map((id, i) => [id, i]));
}

const listed = (value) => (value === null || value === undefined ? [] : Array.isArray(value) ? value : [value]);
const captionsOf = (system, image) => (data.texts[system] ? listed(data.texts[system][image]) : []);
const referencesOf = (image) => (data.refs && data.refs[image]) || [];
const scoreOf = (system, metric, image, k = 0) => {
  const values = data.scores[system][metric];
  return values ? listed(values[image])[k] : undefined;
};
// Measures of sets have one value per image, for all its captions.
const captionScore = (system, metric, image, k) => scoreOf(system, metric, image, metrics[metric].rows === 'image' ? 0 : k);

const columns = new Map();
// Score of every image by one system, the mean if an image has several captions.
function column(system, metric) {
  const key = `${system} ${metric}`;
  if (!columns.has(key)) {
    const values = data.scores[system][metric];
    const means = new Float64Array(data.ids.length).fill(NaN);
    if (values) {
      for (let i = 0; i < means.length; i += 1) {
        const value = values[i];
        if (value !== null) means[i] = Array.isArray(value) ? mean(value) : value;
      }
    }
    columns.set(key, means);
  }
  return columns.get(key);
}

const reaches = new Map();
// Range of the bars of a metric: from 0 (or the smallest value, if negative) to the 99th percentile, so that a few extremes do not
// shrink all others.
function reach(metric) {
  if (!reaches.has(metric)) {
    const values = systems.flatMap((_, system) => [...column(system, metric)]).filter(isDefined).sort((a, b) => a - b);
    const low = Math.min(0, values[0] ?? 0), high = values[Math.floor(0.99 * (values.length - 1))] ?? 0, bound = metrics[metric].bounds[1];
    reaches.set(metric, [low, high > low ? high : isDefined(bound) && bound > low ? bound : low + 1]);
  }
  return reaches.get(metric);
}

// Share of its bar that a value fills. A longer bar is better, whatever the sense of the metric.
function filled(metric, value) {
  if (!isDefined(value)) return '0';
  const [low, high] = reach(metric), share = Math.max(0, Math.min(1, (value - low) / (high - low)));
  return `${(100 * (metrics[metric].higher ? share : 1 - share)).toFixed(1)}%`;
}

const arrowOf = (metric) => (metric.higher ? '↑' : '↓');
const senseOf = (metric) => (metric.higher ? 'higher is better' : 'lower is better');

const perImage = metrics.map((metric, m) => m).filter((m) => metrics[m].rows !== 'corpus');
// Metric that the image browser shows first.
const favourite = ['CIDEr-D', 'CIDEr', 'SPICE', 'METEOR', 'BLEU-4'].map((name) => metricNumber.get(name)).find((m) => m !== undefined) ?? perImage[0] ?? 0;
const chosenMetric = () => metricNumber.get(state.metric) ?? favourite;

// Words --------------------------------------------------------------------------------------------------------------

// As captious.reporting.report_data.plain_words: the page stores tokens only where they differ from these.
const plainWords = (text) => text.replace(/[.,!?;:"]/g, ' ').toLowerCase().split(/[\t-\r\x1c-\x20]+/).filter(Boolean);
const split = (odd, text) => (isDefined(odd) ? odd.split(' ').filter(Boolean) : plainWords(text));

function wordsOf(system, image, k = 0) {
  const odd = data.words[system];
  return split(odd ? listed(odd[image])[k] : null, captionsOf(system, image)[k] || '');
}

function referenceWords(image) {
  const odd = data.ref_words && data.ref_words[image];
  return referencesOf(image).map((text, r) => split(odd ? odd[r] : null, text));
}

// Search -------------------------------------------------------------------------------------------------------------

const haystacks = new Map();
function haystack(within) {
  if (!haystacks.has(within)) {
    const texts = new Array(data.ids.length);
    for (let i = 0; i < texts.length; i += 1) {
      const parts = [];
      if (within !== 'references') for (let system = 0; system < systems.length; system += 1) parts.push(...captionsOf(system, i));
      if (within !== 'captions') parts.push(...referencesOf(i));
      texts[i] = parts.join('\n').toLowerCase();
    }
    haystacks.set(within, texts);
  }
  return haystacks.get(within);
}

// Predicate of images for a query: all words must occur, words with a minus must not. The query may also be an image id.
function matcher(query, within, whole) {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!terms.length) return () => true;
  const texts = haystack(within);
  const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const tests = terms.map((term) => {
    const wanted = !(term.length > 1 && term.startsWith('-'));
    const text = wanted ? term : term.slice(1);
    const exact = whole ? new RegExp(`(?<![\\p{L}\\p{N}])${escaped(text)}(?![\\p{L}\\p{N}])`, 'u') : null;
    return (i) => (texts[i].includes(text) && (!exact || exact.test(texts[i]))) === wanted;
  });
  const id = query.trim();
  return (i) => tests.every((test) => test(i)) || data.ids[i] === id;
}

// Orders -------------------------------------------------------------------------------------------------------------

const cache = new Map();
function cached(name, compute) {
  if (!cache.has(name)) cache.set(name, compute());
  return cache.get(name);
}

const everywhere = (f) => Float64Array.from(data.ids, (_, i) => f(i));

// The mean of a metric over all systems, or one system's.
function levels(metric, system) {
  return system === null
    ? cached(`mean ${metric}`, () => everywhere((i) => mean(systems.map((_, k) => column(k, metric)[i]))))
    : column(system, metric);
}

// Disagreement of metrics about an image: standard deviation of its ranks by each metric (from 0 to 1, higher is better).
function disagreement(system) {
  return cached(`disagreement ${system}`, () => {
    const ranks = perImage.map((metric) => percentiles(levels(metric, system), metrics[metric].higher));
    return everywhere((i) => {
      const own = ranks.map((rank) => rank[i]).filter(isDefined);
      if (own.length < 2) return NaN;
      const middle = mean(own);
      return Math.sqrt(mean(own.map((rank) => (rank - middle) ** 2)));
    });
  });
}

function percentiles(values, higher) {
  const order = [...values.keys()].filter((i) => isDefined(values[i])).sort((a, b) => (higher ? 1 : -1) * (values[a] - values[b]));
  const out = new Float64Array(values.length).fill(NaN);
  let start = 0;
  while (start < order.length) {
    let end = start;
    while (end + 1 < order.length && values[order[end + 1]] === values[order[start]]) end += 1;
    for (let k = start; k <= end; k += 1) out[order[k]] = order.length > 1 ? (start + end) / 2 / (order.length - 1) : 0.5;
    start = end + 1;
  }
  return out;
}

// Number of hallucinated objects in the captions of one system or of all.
function hallucinations(objects, system) {
  return cached(`hallucinations ${system}`, () => everywhere((i) => {
    let total = 0;
    for (let k = 0; k < systems.length; k += 1) {
      if (system !== null && k !== system) continue;
      for (const caption of (objects.systems[k] && objects.systems[k][i]) || []) for (const mention of caption) total += mention[2];
    }
    return total;
  }));
}

// Words by which the longest caption of an image exceeds its longest reference.
const excess = () => cached('excess', () => {
  const longest = (lists) => Math.max(0, ...lists.map((tokens) => tokens.length));
  return everywhere((i) => (referencesOf(i).length ? Math.max(0, ...lengths()[i]) - longest(referenceWords(i)) : NaN));
});

const differing = () => cached('differ', () => Uint8Array.from(data.ids, (_, i) => {
  const texts = new Set();
  systems.forEach((_one, k) => texts.add(captionsOf(k, i).join('\n').toLowerCase()));
  return texts.size > 1 ? 1 : 0;
}));

const lengths = () => cached('lengths', () => data.ids.map((_, i) => systems.flatMap((_one, k) => captionsOf(k, i).map((_text, c) => wordsOf(k, i, c).length))));
