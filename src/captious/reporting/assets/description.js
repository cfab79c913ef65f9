// Descriptions by sentences: which the references support, objects with the nearest word of the references, facts covered
// and missed (captious/reporting/explanations.py: descriptions).

const SUPPORT = {
  supported: ['✓', 'all objects are supported by the references'],
  unsupported: ['✗', 'names an object that the references do not support'],
  ambiguous: ['?', 'the text leaves an object open'],
  neutral: ['·', 'names no object'],
};

const supportMark = (status) => h(`span.mark.${status}`, null, h('span', { 'aria-hidden': 'true' }, `${SUPPORT[status][0]} `), status);

// Facts in two lists, covered and not.
function factLists(facts, titles, detail) {
  const list = (covered, kind) => {
    const rows = facts.filter((fact) => Boolean(fact[1]) === covered);
    return h('div', null, h('h5', null, `${titles[covered ? 0 : 1]} (${count(rows.length)})`),
      rows.length ? h('ul.chips', null, rows.slice(0, 200).map((fact) => chip(kind, fact[0] + detail(fact, covered)))) : h('p.none', null, 'None.'));
  };
  return [list(true, 'matched'), list(false, titles[2])];
}

WHY.push({
  name: 'descriptions',
  title: 'Supported sentences',
  async render(target, { system, image, k }) {
    const stored = await block('descriptions');
    const row = stored.systems[system] && stored.systems[system][image] && stored.systems[system][image][k];
    if (!row) return replace(target, h('p.none', null, 'The sentences of this caption were not judged.'));
    const [sentences, objects, recall, precision] = row, tally = (status) => sentences.filter((one) => one[1] === status).length;
    const wrong = objects.filter((one) => one[2] === 'unsupported');
    replace(target,
      h('p', null, `${plural(sentences.length, 'sentence')}: ${Object.keys(SUPPORT).filter(tally).map((status) => `${tally(status)} ${status}`).join(', ') || 'none'}.`,
        wrong.length > 0 && [' Least supported: “', words(shorten(wrong[0][0], 60)), '”.']),
      h('ol.judged', { 'aria-label': 'Sentences' }, sentences.slice(0, 200).map(([text, status]) => h('li', { class: status }, supportMark(status), ' ', words(shorten(text, 1000))))),
      h('p.note', null, `A sentence has the status of its worst ${objects.length ? 'object' : 'fact'}. `, Object.entries(SUPPORT).map(([status, [sign, note]]) => `${sign} ${status}: ${note}`).join('; '), '.'),
      objects.length > 0 && [
        h('h5', null, `Objects (${count(objects.length)})`),
        h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Objects' }, h('table', null,
          h('thead', null, h('tr', null, ['object', 'sentence', 'status', 'support', 'nearest in the references'].map((head) => h('th', { scope: 'col' }, head)))),
          h('tbody', null, objects.slice(0, 200).map(([word, place, status, support, nearest]) => h('tr', null,
            h('th', { scope: 'row' }, words(shorten(word, 60))), h('td', null, place), h('td', null, supportMark(status)),
            h('td', null, h('span.weight', null, meter(support), short(support, 2))), h('td', null, words(shorten(nearest, 60))))))))],
      (recall || precision) && h('div.three', null,
        recall && factLists(recall, ['Facts of the references, covered', 'Facts of the references, missed', 'missed'], ([, , by], covered) => (covered && by ? ` (sentence ${by})` : '')),
        precision && factLists(precision, ['Facts of the description, confirmed', 'Facts of the description, not confirmed', 'wrong'], ([, , worst], covered) => (covered ? '' : ` (${worst})`))));
    return target;
  },
});
