// Several data sets: a picker, and all of them side by side by one metric.

const setPicker = () => select('Data set', sets.map((one, k) => [String(k), one.name]), String(shownSet), (value) => openSet(value));

function openSet(k, view = state.view) {
  location.hash = new URLSearchParams({ view, ...(Number(k) ? { data: k } : {}), ...(state.theme ? { theme: state.theme } : {}) }).toString();
  if (setNumber() !== shownSet) location.reload();
}

const datasets = {
  name: 'datasets',
  title: 'Data sets',
  build(section) {
    const names = [...new Set(sets.flatMap((one) => one.meta.metrics.map((metric) => metric.name)))];
    this.metric = select('Metric', names.map((name) => [name, name]), metrics[boardMetric()].name, (value) => go({ board: value }));
    this.body = h('div');
    section.append(h('div.choices', null, this.metric), this.body);
  },
  update() {
    const name = this.metric.field.value = state.board || metrics[boardMetric()].name;
    const rows = [...new Set(sets.flatMap((one) => one.meta.systems.map((system) => system.name)))];
    const cellOf = (one, system) => {
      const metric = one.meta.metrics.find((own) => own.name === name), k = one.meta.systems.findIndex((own) => own.name === system);
      if (!metric || k < 0 || !isDefined(metric.values[k])) return h('td.value', null, '–');
      const [low, high] = metric.intervals[k] || [], range = isDefined(low) ? `${number(low, metric.format)} to ${number(high, metric.format)}` : '';
      return h('td.value', null, h('span.number', null, number(metric.values[k], metric.format)), range && h('small', null, ` ${range}`));
    };
    replace(this.body, h('div.scroll.board', { tabindex: 0, role: 'region', 'aria-label': `${name} by data set` }, h('table.leader.facets', null,
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'System'), sets.map((one, k) => h('th', { scope: 'col' }, h('button.sort', { title: 'Open this data set', onclick: () => openSet(k, 'leaderboard') }, words(shorten(one.name, 30))), h('small', null, plural(one.meta.images, 'image')))))),
      h('tbody', null, rows.map((system) => h('tr', null, h('th', { scope: 'row' }, words(shorten(system, 28))), sets.map((one) => cellOf(one, system))))))),
    h('p.note', null, `${name} of each system on each data set, with ${100 * meta.level} % intervals. Values of different data sets cannot be compared with each other.`));
  },
};
