// The page: header, navigation, one view at a time.

const VIEWS = [leaderboard, images, systems.length > 1 && compare, (meta.sets || meta.language) && diversity, sets.length > 1 && datasets].filter(Boolean);

function facts() {
  const parts = [plural(meta.images, 'image'), plural(systems.length, 'system'), plural(metrics.length, 'metric')];
  if (meta.references) parts.splice(1, 0, `${meta.references.replace('-', '–')} ${meta.references === '1' ? 'reference' : 'references'} each`);
  return parts;
}

function notes() {
  if (!meta.warnings.length) return null;
  return h('details.warnings', { open: meta.warnings.length < 3 }, h('summary', null, plural(meta.warnings.length, 'thing to know', 'things to know')), h('ul', null, meta.warnings.map((text) => h('li', null, words(shorten(text, 600))))));
}

function themes() {
  const next = { '': 'dark', dark: 'light', light: '' }, label = { '': 'automatic', dark: 'dark', light: 'light' };
  const button = h('button.theme', { onclick: () => go({ theme: next[state.theme] ?? '' }) });
  listeners.push(() => {
    const theme = Object.hasOwn(label, state.theme) ? state.theme : '';
    if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
    replace(button, h('span', { 'aria-hidden': 'true' }, '◐ '), h('span.wider', null, 'Colours: '), label[theme]);
    button.setAttribute('aria-label', `Colours: ${label[theme]}. Change`);
  });
  return button;
}

// Names in the link that the report does not have. Each is said instead of being ignored.
function unknownParts() {
  const wrong = [], text = (value) => words(shorten(value, 60));
  if (!VIEWS.some((view) => view.name === state.view)) wrong.push(['There is no part “', text(state.view), '” in this report; this is the leaderboard.']);
  const tabs = tabsOf(null);
  if (state.tab && !tabs.some((one) => one.name === state.tab)) wrong.push(['There is no explanation “', text(state.tab), '” in this report', tabs.length > 0 && `; there are ${spoken(tabs.map((one) => one.name))}`, '.']);
  for (const key of ['metric', 'board']) if (state[key] && !metricNumber.has(state[key])) wrong.push(['There is no metric “', text(state[key]), `” in this report; ${metrics[favourite].name} is shown.`]);
  return wrong;
}

function page() {
  const notice = h('div.notice', { role: 'status' });
  listeners.push(() => { const wrong = unknownParts(); notice.hidden = !wrong.length; replace(notice, wrong.map((parts) => h('p', null, parts))); });
  const links = VIEWS.map((view) => h('a', { href: `#view=${view.name}`, onclick: (event) => { event.preventDefault(); go({ view: view.name }, true); } }, view.title));
  const sections = VIEWS.map((view) => h('section.view', { id: `view-${view.name}`, 'aria-label': view.title }, view !== diversity && h('h2.spoken', null, view.title)));
  const built = new Set();
  replace(document.getElementById('app'),
    h('a.skip', { href: '#main', onclick: (event) => { event.preventDefault(); document.getElementById('main').focus(); } }, 'Skip to the content'),
    h('header.head', null,
      h('div.brand', null, h('p.kind', null, 'captious report'), h('h1', null, words(meta.title)), h('p.facts', null, facts().join(' · ')), sets.length > 1 && h('div.setpicker', null, setPicker())),
      notes()),
    h('nav.ways', { 'aria-label': 'Parts of the report' }, links, h('span.room'), themes()),
    notice,
    h('main', { id: 'main', tabindex: -1 }, sections),
    h('footer.foot', null, `captious ${meta.version}. Everything is inside this file; nothing is sent anywhere.`),
    announcer);
  listeners.push(() => {
    const current = VIEWS.find((view) => view.name === state.view) || VIEWS[0];
    document.body.dataset.view = current.name;
    VIEWS.forEach((view, n) => {
      const shown = view === current;
      sections[n].hidden = !shown;
      if (shown) links[n].setAttribute('aria-current', 'page'); else links[n].removeAttribute('aria-current');
    });
    show(current, sections[VIEWS.indexOf(current)], built);
  });
  addEventListener('beforeprint', () => VIEWS.forEach((view, n) => { if (view !== images) show(view, sections[n], built); }));
}

// Build a view when it is first shown. Later updates are synchronous, so callers of `go` can use the new elements.
function show(view, section, built) {
  if (!built.has(view)) {
    const needs = view === leaderboard ? null : Promise.all([loaded, ...(view.needs ? view.needs() : [])]);
    if (needs) {
      view.waiting ??= needs.then(() => { built.add(view); view.build(section); view.update(); }, () => null);
      return;
    }
    built.add(view);
    view.build(section);
  }
  view.update();
}

readAddress();
const loaded = load();
page();
notify();
document.documentElement.dataset.drawn = String(Math.round(performance.now()));
loaded.then(() => { document.documentElement.dataset.ready = String(Math.round(performance.now())); }, (error) => {
  replace(document.getElementById('main'), h('p.broken', { role: 'alert' }, `This report is damaged, or the browser is too old to unpack it: ${error}`));
});
