// Space: many layouts at once, of the search, of a sweep or of all sweeps. A brush on any axis filters everything.
import { h, fill, table } from '../lib/dom.js';
import { Latest } from '../lib/api.js';
import { count, digits } from '../lib/format.js';
import { route, settle } from '../lib/route.js';
import { question, questionParams } from '../lib/question.js';
import { layoutText } from '../lib/layouts.js';
import { FIGURES, front, points, variedNames } from '../lib/space_data.js';
import { chart, colour, echarts, textStyle } from '../lib/charts.js';
import { axesOf, nearest, parallelOption } from '../lib/parallel.js';
import { plot } from '../lib/plot.js';
import { shortName } from '../lib/trials.js';

export const title = 'Space';
const TABLE = 25, MOST_AXES = 7;
const labelOf = (name) => FIGURES[name]?.label ?? name;

export function mount(root, { signal }) {
  const latest = new Latest(), state = {}, host = h('div'), controls = h('div'), list = h('div', { class: 'card' }), named = h('p', { class: 'hint', role: 'status' });
  const data = { rows: [], kept: [], names: [], total: 0 };
  let drawing = null;
  const heading = h('h1', {}, 'Space'), said = h('p', { class: 'muted' });
  fill(root, h('div', { class: 'page' }, h('div', { class: 'bar-row' }, heading, said), h('div', { class: 'card' }, controls, host, named), list));

  function read() {
    const p = route.params, get = (name, otherwise = '') => p.get(name) ?? otherwise;
    Object.assign(state, { from: get('from'), filter: get('filter'), chart: get('chart', 'parallel'), axes: get('axes'), log: get('log'), top: get('top', '100'), bad: get('bad'), by: get('by', 'step_s'), x: get('x'), y: get('y'), dominated: get('dominated') });
    load();
  }

  const write = (values) => {
    Object.assign(state, values);
    const more = { ...state, chart: state.chart === 'parallel' ? '' : state.chart, top: state.top === '100' ? '' : state.top, by: state.by === 'step_s' ? '' : state.by };
    settle(state.from ? more : questionParams(more));
    show();
  };

  async function load() {
    heading.textContent = state.from === '-' ? 'All trials' : state.from ? `Trials of ${shortName(state.from)}` : `Layouts of ${question.model} on ${question.gpus} × ${question.cluster}`;
    try {
      await latest.run(async (abort) => {
        const { rows, total } = await points(state.from, state.filter, abort, (items) => { said.textContent = `${count(items.length)} trials …`; });
        Object.assign(data, { all: rows, total });
        show();
      });
    } catch (error) {
      if (error.code !== 'LOST') fill(host, h('div', { class: 'trouble' }, error.message));
    }
  }

  // Draws everything again: the points that the controls leave, the chart, and the table.
  async function show() {
    drawing?.abort();
    drawing = new AbortController();
    signal.addEventListener('abort', () => drawing.abort(), { signal: drawing.signal });
    const sort = FIGURES[state.by] ? state.by : 'step_s', sign = FIGURES[sort].less ? 1 : -1;
    const good = data.all.filter((r) => r.outcome === 'ok').sort((a, b) => sign * ((a[sort] ?? Infinity * sign) - (b[sort] ?? Infinity * sign)));
    const bad = data.all.filter((r) => r.outcome !== 'ok');
    // The best come last, so that they are drawn above the others.
    data.rows = [...(state.bad ? bad : []), ...good.slice(0, Math.max(1, Math.ceil(good.length * state.top / 100))).reverse()];
    data.names = variedNames(data.rows);
    said.textContent = `${count(data.rows.length)} of ${count(data.total)} ${state.from ? 'trials' : 'that fit'}`;
    keep(data.rows.map((_, i) => i));
    fill(controls, controlsOf(data, state, bad.length, write));
    named.textContent = '';
    if (!data.rows.length) return fill(host, h('div', { class: 'empty' }, h('h2', {}, 'No point to draw'), h('p', {}, state.from ? 'No trial of this source has a result yet.' : 'Nothing fits this question.')));
    if (state.chart === 'pareto') return drawPareto(host, data, state);
    if (!await echarts()) return fill(host, h('div', { class: 'empty' }, h('h2', {}, 'This server has no charts'), h('p', {}, 'It was built without ECharts; the table below has the same points, and so has the Pareto front.')));
    fill(host, h('div', { class: 'chart tall' }));
    await (state.chart === 'heat' ? drawHeat : drawParallel)(host.firstChild, data, state, { keep, named, signal: drawing.signal });
  }

  function keep(indices) {
    data.kept = indices;
    const rows = indices.map((i) => data.rows[i]).reverse(), shown = rows.slice(0, TABLE), figures = Object.keys(FIGURES).filter((name) => data.names.includes(name));
    fill(list, h('h2', {}, `${count(rows.length)} ${rows.length === 1 ? 'point' : 'points'} `, h('small', {}, rows.length > TABLE ? `the first ${TABLE} by ${labelOf(state.by)}` : '')), table([
      { head: 'Layout', class: 'keys', cell: (r) => (r.href ? h('a', { class: 'layout-text', href: r.href }, layoutText(r.layout)) : h('span', { class: 'layout-text' }, layoutText(r.layout))) },
      state.from && { head: 'Outcome', cell: (r) => h('span', { class: `chip ${r.outcome === 'ok' ? 'good' : 'bad'}` }, r.outcome) },
      state.from === '-' && { head: 'Model', cell: (r) => r.model },
      ...figures.map((name) => ({ head: labelOf(name), class: 'r', cell: (r) => (Number.isFinite(r[name]) ? digits(r[name]) : '–') })),
    ].filter(Boolean), shown, { caption: 'Points' }));
  }

  document.addEventListener('theme', () => data.all && show(), { signal });
  read();
  return { update: read };
}

// Which axes are drawn, in the order of the address; by default keys and then figures.
function axesChosen(state, names) {
  const said = state.axes.split(',').filter((name) => names.includes(name));
  if (said.length > 1) return said;
  const keys = names.filter((name) => !FIGURES[name]), figures = names.filter((name) => FIGURES[name]);
  return [...keys.slice(0, MOST_AXES - 2), ...['memory', 'step_s'].filter((name) => figures.includes(name))];
}

function controlsOf(data, state, failed, write) {
  const tab = (name, label) => h('button', { type: 'button', 'aria-pressed': String(state.chart === name), onclick: () => write({ chart: name }) }, label);
  const select = (name, label, names, value) => h('label', { class: 'check' }, label, h('select', { onchange: (event) => write({ [name]: event.target.value }) }, names.map((n) => h('option', { value: n, selected: n === value }, labelOf(n)))));
  const figures = data.names.filter((name) => FIGURES[name]), keys = data.names.filter((name) => !FIGURES[name]);
  const top = h('input', { type: 'range', min: 1, max: 100, value: state.top, 'aria-label': 'Best share of the points, %', style: { width: '110px' }, onchange: (event) => write({ top: event.target.value }) });
  return [
    h('div', { class: 'bar-row' }, h('div', { class: 'tabs' }, tab('parallel', 'Parallel'), tab('heat', 'Heat map'), tab('pareto', 'Pareto')),
      select('by', 'Best by', figures, state.by), h('label', { class: 'check' }, `Best ${state.top} %`, top),
      failed > 0 && h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: state.bad, onchange: (event) => write({ bad: event.target.checked ? '1' : '' }) }), `${count(failed)} failed or out of memory`),
      state.chart === 'heat' && [select('x', 'Across', keys, state.x || keys[0]), select('y', 'Down', keys, state.y || keys[1])],
      state.chart === 'pareto' && [select('x', 'Across', figures, state.x || 'memory'), select('y', 'Up', figures, state.y || 'mfu'), h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: state.dominated, onchange: (event) => write({ dominated: event.target.checked ? '1' : '' }) }), 'dominated points')]),
    state.chart === 'parallel' && axisList(data, state, write),
  ];
}

// The axes as a list: dragged, or moved and switched by buttons.
function axisList(data, state, write) {
  const chosen = axesChosen(state, data.names), logs = state.log.split(',').filter(Boolean);
  const move = (name, to) => {
    const rest = chosen.filter((n) => n !== name);
    rest.splice(to, 0, name);
    write({ axes: rest.join(',') });
  };
  const toggle = (list, name) => (list.includes(name) ? list.filter((n) => n !== name) : [...list, name]).join(',');
  return h('ol', { class: 'axes', 'aria-label': 'Axes' }, chosen.map((name, i) => h('li', {
    draggable: 'true', ondragstart: (event) => event.dataTransfer.setData('text/axis', name), ondragover: (event) => event.preventDefault(),
    ondrop: (event) => { event.preventDefault(); move(event.dataTransfer.getData('text/axis'), i); },
  },
  h('button', { type: 'button', 'aria-label': `Move ${name} to the left`, disabled: i === 0, onclick: () => move(name, i - 1) }, '‹'),
  h('button', { type: 'button', class: 'name', title: 'Leave this axis out', 'aria-label': `Leave ${name} out`, onclick: () => write({ axes: toggle(chosen, name) }) }, labelOf(name)),
  FIGURES[name] && h('button', { type: 'button', 'aria-pressed': String(logs.includes(name)), 'aria-label': `${name} on a logarithmic axis`, onclick: () => write({ log: toggle(logs, name) }) }, 'log'),
  h('button', { type: 'button', 'aria-label': `Move ${name} to the right`, disabled: i === chosen.length - 1, onclick: () => move(name, i + 1) }, '›'))),
  data.names.filter((name) => !chosen.includes(name)).map((name) => h('li', { class: 'off' }, h('button', { type: 'button', class: 'name', 'aria-label': `Add the axis ${name}`, onclick: () => write({ axes: [...chosen, name].join(',') }) }, `+ ${labelOf(name)}`))));
}

async function drawParallel(host, data, state, { keep, named, signal }) {
  const axes = axesOf(data.rows, axesChosen(state, data.names), state.log.split(','));
  const made = await chart(host, `${count(data.rows.length)} points over ${axes.map((a) => a.name).join(', ')}`, signal);
  if (!made) return;
  made.setOption(parallelOption(data.rows, axes, state.by));
  made.on('axisareaselected', () => {
    const series = made.getModel().getSeriesByIndex(0), active = series.getRawIndicesByActiveState('active');
    keep(active.length ? active : [...series.getRawIndicesByActiveState('normal')]);
  });
  made.getZr().on('mousemove', ({ offsetX, offsetY }) => {
    const at = nearest(data.rows, axes, data.kept, offsetX, offsetY, made.getWidth(), made.getHeight());
    named.replaceChildren(...(at < 0 ? ['Drag along an axis to filter; click a mark to take it away.'] : [h('span', { class: 'layout-text' }, layoutText(data.rows[at].layout)), ` ${Number.isFinite(data.rows[at].step_s) ? `${digits(data.rows[at].step_s)} s` : data.rows[at].outcome}`]));
  });
  named.textContent = 'Drag along an axis to filter; click a mark to take it away.';
  performance.mark('meshwright-drawn');
}

// The best value of a figure for each pair of values of two keys.
async function drawHeat(host, data, state, { signal }) {
  const keys = data.names.filter((name) => !FIGURES[name]), x = keys.includes(state.x) ? state.x : keys[0], y = keys.includes(state.y) ? state.y : keys[1];
  if (!x || !y) return fill(host, h('div', { class: 'empty' }, 'A heat map needs two keys that vary.'));
  const figure = FIGURES[state.by] ? state.by : 'step_s', better = FIGURES[figure].less ? Math.min : Math.max;
  const order = (name) => [...new Set(data.rows.map((r) => r[name]))].sort((a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : 1)).map(String);
  const [xs, ys] = [order(x), order(y)], cells = new Map();
  for (const row of data.rows) {
    const at = `${xs.indexOf(String(row[x]))},${ys.indexOf(String(row[y]))}`, cell = cells.get(at) ?? { n: 0 };
    if (Number.isFinite(row[figure])) Object.assign(cell, cell.best === undefined || better(row[figure], cell.best) === row[figure] ? { best: row[figure], row } : {});
    cell.n += 1;
    cells.set(at, cell);
  }
  const values = [...cells.values()].map((c) => c.best).filter(Number.isFinite);
  const made = await chart(host, `Best ${labelOf(figure)} by ${x} and ${y}`, signal);
  if (!made) return;
  const muted = textStyle(), axis = (name, list) => ({ type: 'category', name, data: list, nameTextStyle: { ...muted, fontWeight: 600 }, axisLabel: muted, axisLine: { show: false }, axisTick: { show: false }, splitArea: { show: true, areaStyle: { color: [colour('raised')] } } });
  made.setOption({
    animation: false, textStyle: muted, grid: { left: 90, right: 30, top: 30, bottom: 40 }, xAxis: axis(x, xs), yAxis: axis(y, ys),
    tooltip: { renderMode: 'richText', backgroundColor: colour('surface'), borderColor: colour('line'), textStyle: { ...muted, color: colour('ink') }, formatter: ({ value: [i, j] }) => { const cell = cells.get(`${i},${j}`); return `${x} ${xs[i]}, ${y} ${ys[j]}: ${cell.n} points\n${cell.row?.layout ?? ''}`; } },
    visualMap: { show: false, min: Math.min(...values), max: Math.max(...values), inRange: { color: (FIGURES[figure].less ? ['c4', 'raised'] : ['raised', 'c4']).map(colour) } },
    series: { type: 'heatmap', data: [...cells].filter(([, c]) => Number.isFinite(c.best)).map(([at, c]) => [...at.split(',').map(Number), c.best]), label: { show: true, color: colour('ink'), formatter: ({ value }) => digits(value[2]) }, itemStyle: { borderColor: colour('surface'), borderWidth: 2, borderRadius: 3 } },
  });
  made.on('click', ({ value: [i, j] }) => { location.hash = cells.get(`${i},${j}`).row?.href ?? location.hash; });
}

function drawPareto(host, data, state) {
  const figures = data.names.filter((name) => FIGURES[name]), x = figures.includes(state.x) ? state.x : 'memory', y = figures.includes(state.y) ? state.y : 'mfu';
  const best = front(data.rows, x, y), rest = data.rows.filter((r) => !best.includes(r) && Number.isFinite(r[x]) && Number.isFinite(r[y]));
  const point = (kind) => (r) => ({ x: r[x], y: r[y], title: `${r.layout}: ${digits(r[x])} ${labelOf(x)}, ${digits(r[y])} ${labelOf(y)}`, href: kind === 'best' ? r.href : null, kind });
  fill(host, plot({ label: `Pareto front of ${labelOf(x)} and ${labelOf(y)}`, height: 440, x: { label: labelOf(x) }, y: { label: labelOf(y) }, series: [
    ...(state.dominated ? [{ points: rest.map(point('dim')) }] : []), { line: 'straight', points: best.map(point('best')) }] }, Math.max(340, host.clientWidth - 10)),
  h('p', { class: 'hint' }, `${count(best.length)} points are not beaten in both figures; ${count(rest.length)} are.`));
}
