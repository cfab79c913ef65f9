// Tables for papers and programs. Captions, ids and names are untrusted text and are escaped in every format.

// Cells that a spreadsheet would run as formulas get an apostrophe.
function csvCell(value) {
  if (!isDefined(value)) return '';
  let text = String(value);
  if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text) && !/^[-+]?[\d.,]+%?(e[-+]?\d+)?$/i.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
const csv = (rows) => rows.map((row) => row.map(csvCell).join(',')).join('\r\n') + '\r\n';

const oneLine = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
const markdownCell = (text) => oneLine(text).replace(/[\\`*_{}[\]<>|#~$&!]/g, '\\$&');

function markdown(head, rows, bold) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head.map(markdownCell)), `|${head.map((_, k) => (k ? '--:' : ':--')).join('|')}|`,
    ...rows.map((row, i) => line(row.map((cell, k) => (bold[i][k] ? `**${markdownCell(cell)}**` : markdownCell(cell)))))].join('\n') + '\n';
}

const TEX = {
  '\\': '\\textbackslash{}', '&': '\\&', '%': '\\%', $: '\\$', '#': '\\#', _: '\\_', '{': '\\{', '}': '\\}', '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}', '<': '\\textless{}', '>': '\\textgreater{}', '↓': '$\\downarrow$', '–': '--', '−': '$-$', '±': '$\\pm$', '"': '\\textquotedbl{}',
};
const tex = (text) => oneLine(text).replace(/[\\&%$#_{}~^<>↓–−±"]/g, (c) => TEX[c]);

function latex(head, rows, bold) {
  const line = (cells) => `${cells.join(' & ')} \\\\`;
  return [`\\begin{tabular}{l${'r'.repeat(head.length - 1)}}`, '\\toprule', line(head.map(tex)), '\\midrule',
    ...rows.map((row, i) => line(row.map((cell, k) => (bold[i][k] ? `\\textbf{${tex(cell)}}` : tex(cell))))), '\\bottomrule', '\\end{tabular}'].join('\n') + '\n';
}

function download(name, kind, text) {
  const link = h('a', { href: URL.createObjectURL(new Blob([text], { type: kind })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  announce(`${name} was saved`);
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Some browsers deny clipboard access to local files. Copying a selection works in all of them.
    const area = h('textarea.away', { readonly: true, 'aria-label': what });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  announce(`${what} copied`);
  flash(`${what} copied`);
}

let flashing = null;
function flash(text) {
  if (flashing) flashing.remove();
  flashing = h('div.flash', { 'aria-hidden': 'true' }, text);
  document.body.append(flashing);
  const own = flashing;
  setTimeout(() => own.remove(), 1800);
}

// Content of the leaderboard as text.
function boardTable(order, minus = '−') {
  const head = ['system', ...metrics.map((metric) => metric.name + (metric.higher ? '' : ' ↓'))];
  const rows = order.map((k) => [systems[k].name, ...metrics.map((metric) => number(metric.values[k], metric.format).replace('−', minus))]);
  const bold = order.map((k) => [false, ...metrics.map((metric) => isBest(metric, k))]);
  return { head, rows, bold };
}

function boardCsv(order) {
  const rows = [['system', 'metric', 'value', 'low', 'high', 'group', 'signature']];
  for (const k of order) {
    for (const metric of metrics) {
      if (!isDefined(metric.values[k])) continue;
      const [low, high] = metric.intervals[k] || [null, null];
      rows.push([systems[k].name, metric.name, metric.values[k], low, high, metric.groups ? metric.groups[k] : '', metric.signatures[k]]);
    }
  }
  return csv(rows);
}

function imagesCsv(rows) {
  const out = [['image', 'system', 'caption', ...perImage.map((m) => metrics[m].name)]];
  for (const i of rows) {
    systems.forEach((system, k) => {
      const texts = captionsOf(k, i);
      (texts.length ? texts : [null]).forEach((text, c) => out.push([data.ids[i], system.name, text, ...perImage.map((m) => captionScore(k, m, i, c))]));
    });
  }
  return csv(out);
}

// JSON with all scores and captions of the page.
function everything() {
  const { explanations, blocks, ...rest } = meta;
  return JSON.stringify({
    ...rest,
    per_image: data.ids.map((id, i) => ({
      image: id,
      references: referencesOf(i),
      systems: systems.map((system, k) => ({
        system: system.name,
        captions: captionsOf(k, i).map((text, c) => ({ caption: text, scores: Object.fromEntries(perImage.map((m) => [metrics[m].name, captionScore(k, m, i, c) ?? null])) })),
      })),
    })),
  }, null, 1);
}
