// Space: many layouts at once, of the search, of a sweep or of all sweeps. A brush on any axis filters everything.
import {Latest} from '../lib/api.js';
import {fill, h, table} from '../lib/dom.js';
import {count, digits} from '../lib/format.js';
import {layoutText} from '../lib/layouts.js';
import {axesOf, parallel, sortedValues} from '../lib/parallel.js';
import {plot} from '../lib/plot.js';
import {question, questionParams} from '../lib/question.js';
import {route, settle} from '../lib/route.js';
import {FIGURES, front, points, variedNames} from '../lib/space_data.js';
import {shortName} from '../lib/trials.js';
import {throttled} from '../lib/watch.js';

export const title = 'Space';
const TABLE = 25, MOST_AXES = 7, TELL_MS = 120, AXIS_PX = 88;
const labelOf = (name) => FIGURES[name]?.label ?? name;

export function mount(root, {signal}) {
  const latest = new Latest(), state = {}, host = h('div'), controls = h('div'), list = h('div', {class: 'card'}),
        named = h('p', {class: 'hint', role: 'status'});
  const data = {rows: [], kept: [], names: [], total: 0};
  let drawing = null;
  const heading = h('h1', {}, 'Space'), said = h('p', {class: 'muted'});
  fill(root,
    h('div', {class: 'page'}, h('div', {class: 'bar-row'}, heading, said),
      h('div', {class: 'card'}, controls, host, named), list));

  function read() {
    const p = route.params, get = (name, otherwise = '') => p.get(name) ?? otherwise;
    Object.assign(state, {
      from: get('from'),
      filter: get('filter'),
      chart: get('chart', 'parallel'),
      axes: get('axes'),
      log: get('log'),
      top: get('top', '100'),
      bad: get('bad'),
      by: get('by', 'step_s'),
      x: get('x'),
      y: get('y'),
      dominated: get('dominated'),
      brush: get('brush')
    });
    load();
  }

  const write = (values, redraw = true) => {
    Object.assign(state, values);
    const more = {
      ...state,
      chart: state.chart === 'parallel' ? '' : state.chart,
      top: state.top === '100' ? '' : state.top,
      by: state.by === 'step_s' ? '' : state.by
    };
    settle(state.from ? more : questionParams(more));
    if (redraw) show();
  };

  async function load() {
    const all = state.from === '-' ? 'All trials' : `Trials of ${shortName(state.from)}`;
    heading.textContent = state.from ? all : `Layouts of ${question.model} on ${question.gpus} × ${question.cluster}`;
    try {
      await latest.run(async (abort) => {
        const {rows, total} = await points(state.from, state.filter, abort, (read) => {
          said.textContent = `${count(read)} trials …`;
        });
        Object.assign(data, {all: rows, total});
        show();
      });
    } catch (error) {
      if (error.code !== 'LOST') fill(host, h('div', {class: 'trouble'}, error.message));
    }
  }

  // Draws everything again: the points that the controls leave, the chart, and the table.
  function show() {
    drawing?.abort();
    drawing = new AbortController();
    const sort = FIGURES[state.by] ? state.by : 'step_s', sign = FIGURES[sort].less ? 1 : -1;
    const good = data.all.filter((r) => r.outcome === 'ok')
                   .sort((a, b) => sign * ((a[sort] ?? Infinity * sign) - (b[sort] ?? Infinity * sign)));
    const bad = data.all.filter((r) => r.outcome !== 'ok');
    // The best come last, so that they are drawn above the others.
    data.rows =
      [...(state.bad ? bad : []), ...good.slice(0, Math.max(1, Math.ceil(good.length * state.top / 100))).reverse()];
    data.names = variedNames(data.rows);
    said.textContent = `${count(data.rows.length)} of ${count(data.total)} ${state.from ? 'trials' : 'that fit'}`;
    if (state.chart !== 'parallel') keep(data.rows.map((_, i) => i));
    fill(controls, controlsOf(data, state, bad.length, write));
    named.textContent = '';
    if (!data.rows.length)
      return fill(host,
        h('div', {class: 'empty'}, h('h2', {}, 'No point to draw'),
          h('p', {}, state.from ? 'No trial of this source has a result yet.' : 'Nothing fits this question.')));
    if (state.chart === 'pareto') return drawPareto(host, data.rows, data.names, state);
    if (state.chart === 'heat') return drawHeat(host, data.rows, data.names, state);
    const board = h('div', {class: 'chart'});
    fill(host, h('div', {class: 'scroll'}, board));
    drawParallel(board, data, state, {keep, named, write, signal: drawing.signal});
  }

  function keep(indices) {
    data.kept = indices;
    const rows = indices.map((i) => data.rows[i]).reverse(), shown = rows.slice(0, TABLE),
          figures = Object.keys(FIGURES).filter((name) => data.names.includes(name));
    fill(list,
      h('h2', {}, `${count(rows.length)} ${rows.length === 1 ? 'point' : 'points'} `,
        h('small', {}, rows.length > TABLE ? `the first ${TABLE} by ${labelOf(state.by)}` : '')),
      table(
        [
          {
            head: 'Layout',
            class: 'keys',
            cell: (r) => (r.href ? h('a', {class: 'layout-text', href: r.href}, layoutText(r.layout))
                                 : h('span', {class: 'layout-text'}, layoutText(r.layout)))
          },
          state.from && {
            head: 'Outcome',
            cell: (r) => h('span', {class: `chip ${r.outcome === 'ok' ? 'good' : 'bad'}`}, r.outcome)
          },
          state.from === '-' && {head: 'Model', cell: (r) => r.model},
          ...figures.map(
            (name) =>
              ({head: labelOf(name), class: 'r', cell: (r) => (Number.isFinite(r[name]) ? digits(r[name]) : '–')})),
        ].filter(Boolean),
        shown, {caption: 'Points'}));
  }

  document.addEventListener('theme', () => data.all && show(), {signal});
  signal.addEventListener('abort', () => {
    latest.cancel();
    drawing?.abort();
  });
  read();
  return {update: read};
}

// Which axes are drawn, in the order of the address; by default keys and then figures.
function axesChosen(state, names) {
  const said = state.axes.split(',').filter((name) => names.includes(name));
  if (said.length > 1) return said;
  const keys = names.filter((name) => !FIGURES[name]), figures = names.filter((name) => FIGURES[name]);
  return [...keys.slice(0, MOST_AXES - 2), ...['memory', 'step_s'].filter((name) => figures.includes(name))];
}

function controlsOf(data, state, failed, write) {
  const tab = (name, label) => h('button',
    {type: 'button', 'aria-pressed': String(state.chart === name), onclick: () => write({chart: name})}, label);
  const select = (name, label, names, value) => h('label', {class: 'check'}, label,
    h('select', {onchange: (event) => write({[name]: event.target.value})},
      names.map((n) => h('option', {value: n, selected: n === value}, labelOf(n)))));
  const figures = data.names.filter((name) => FIGURES[name]), keys = data.names.filter((name) => !FIGURES[name]);
  const top = h('input', {
    type: 'range',
    min: 1,
    max: 100,
    value: state.top,
    'aria-label': 'Best share of the points, %',
    style: {width: '110px'},
    onchange: (event) => write({top: event.target.value})
  });
  return [
    h('div', {class: 'bar-row'},
      h('div', {class: 'tabs'}, tab('parallel', 'Parallel'), tab('heat', 'Heat map'), tab('pareto', 'Pareto')),
      select('by', 'Best by', figures, state.by), h('label', {class: 'check'}, `Best ${state.top} %`, top),
      failed > 0 &&
        h('label', {class: 'check'},
          h('input',
            {type: 'checkbox', checked: state.bad, onchange: (event) => write({bad: event.target.checked ? '1' : ''})}),
          `${count(failed)} failed or out of memory`),
      state.chart === 'heat' &&
        [select('x', 'Across', keys, state.x || keys[0]), select('y', 'Down', keys, state.y || keys[1])],
      state.chart === 'pareto' &&
        [
          select('x', 'Across', figures, state.x || 'memory'), select('y', 'Up', figures, state.y || 'mfu'),
          h('label', {class: 'check'}, h('input', {
            type: 'checkbox',
            checked: state.dominated,
            onchange: (event) => write({dominated: event.target.checked ? '1' : ''})
          }),
            'dominated points')
        ]),
    state.chart === 'parallel' && axisList(data, state, write),
  ];
}

// The axes as a list: dragged, or moved and switched by buttons.
function axisList(data, state, write) {
  const chosen = axesChosen(state, data.names), logs = state.log.split(',').filter(Boolean);
  const move = (name, place) => write({axes: moved(chosen, name, place)});
  const toggle = (list, name) => (list.includes(name) ? list.filter((n) => n !== name) : [...list, name]).join(',');
  return h('ol', {class: 'axes', 'aria-label': 'Axes'},
    chosen.map((name, i) =>
                 h('li', {},
                   h('button', {
                     type: 'button',
                     'aria-label': `Move ${name} to the left`,
                     disabled: i === 0,
                     onclick: () => move(name, i - 1)
                   },
                     '‹'),
                   h('button', {
                     type: 'button',
                     class: 'name',
                     title: 'Leave this axis out',
                     'aria-label': `Leave ${name} out`,
                     onclick: () => write({axes: toggle(chosen, name)})
                   },
                     labelOf(name)),
                   FIGURES[name] &&
                     h('button', {
                       type: 'button',
                       'aria-pressed': String(logs.includes(name)),
                       'aria-label': `${name} on a logarithmic axis`,
                       onclick: () => write({log: toggle(logs, name)})
                     },
                       'log'),
                   h('button', {
                     type: 'button',
                     'aria-label': `Move ${name} to the right`,
                     disabled: i === chosen.length - 1,
                     onclick: () => move(name, i + 1)
                   },
                     '›'))),
    data.names.filter((name) => !chosen.includes(name))
      .map((name) =>
             h('li', {class: 'off'},
               h('button', {
                 type: 'button', class: 'name', 'aria-label': `Add the axis ${name}`,
                 onclick: () => write({axes: [...chosen, name].join(',')}),
               }, `+ ${labelOf(name)}`))));
}

function drawParallel(host, data, state, {keep, named, write, signal}) {
  const names = axesChosen(state, data.names), axes = axesOf(data.rows, names, state.log.split(','));
  const hint = 'Drag along an axis, or move its ends, to filter; click it to see all. Drag a name to move its axis.';
  const ranges = {};
  for (const part of state.brush.split(',').filter(Boolean)) {
    const [name, ...ends] = part.split(':');
    ranges[name] = ends.map(Number);
  }
  const said = () => {
    const narrow = Object.entries(ranges).filter(([, [low, high]]) => low > 0 || high < 1);
    return narrow.map(([name, ends]) => [name, ...ends.map((end) => Number(end.toFixed(3)))].join(':')).join(',');
  };
  host.style.minWidth = `${names.length * AXIS_PX}px`;
  let latest = [];
  const tell = throttled(() => !signal.aborted && keep(latest), TELL_MS);
  named.textContent = hint;
  performance.mark('meshwright-points');
  parallel(host, {
    rows: data.rows, axes, inkedBy: state.by, ranges, signal,
    kept: (indices) => {
      latest = indices;
      tell();
    },
    hover: (i) => fill(named, i < 0 ? hint : nameOf(data.rows[i])),
    changed: () => write({brush: said()}, false),
    moved: (name, place) => write({axes: moved(names, name, place)}),
  });
}

const nameOf = (row) => [
  h('span', {class: 'layout-text'}, layoutText(row.layout)),
  ` ${Number.isFinite(row.step_s) ? `${digits(row.step_s)} s` : row.outcome}`,
];

const moved = (names, name, place) => names.filter((n) => n !== name).toSpliced(place, 0, name).join(',');

// The best value of a figure for each pair of values of two keys.
function drawHeat(host, rows, names, state) {
  const keys = names.filter((name) => !FIGURES[name]), x = keys.includes(state.x) ? state.x : keys[0],
        y = keys.includes(state.y) ? state.y : keys[1];
  if (!x || !y) return fill(host, h('div', {class: 'empty'}, 'A heat map needs two keys that vary.'));
  const figure = FIGURES[state.by] ? state.by : 'step_s', {less} = FIGURES[figure];
  const order = (name) => sortedValues(new Set(rows.map((r) => r[name] ?? '–')));
  const cells = new Map();
  for (const row of rows.filter((r) => Number.isFinite(r[figure]))) {
    const at = `${row[x] ?? '–'} ${row[y] ?? '–'}`, cell = cells.get(at) ?? {n: 0, row};
    if (less ? row[figure] < cell.row[figure] : row[figure] > cell.row[figure]) cell.row = row;
    cell.n += 1;
    cells.set(at, cell);
  }
  const values = [...cells.values()].map((c) => c.row[figure]), low = Math.min(...values),
        wide = Math.max(...values) - low || 1;
  const tint = (v) =>
    `color-mix(in oklab, var(--heat) ${Math.round(75 * (less ? 1 - (v - low) / wide : (v - low) / wide))}%, var(--raised))`;
  const cell = (across, down) => {
    const found = cells.get(`${across} ${down}`), text = found && digits(found.row[figure]);
    return h('td', {class: 'cell', style: found && { background: tint(found.row[figure]) }},
      found &&
        (found.row.href ? h('a', {href: found.row.href, title: `${found.row.layout}, the best of ${count(found.n)}`}, text)
                        : text));
  };
  fill(host,
    table(
      [
        {head: `${y} ↓  ${x} →`, cell: (down) => h('th', {scope: 'row'}, down)},
        ...order(x).map((across) => ({head: String(across), class: 'cell', cell: (down) => cell(across, down)}))
      ],
      order(y), {caption: `Best ${labelOf(figure)} by ${x} and ${y}`, cards: false}),
    h('p', {class: 'hint'}, `The best ${labelOf(figure)} of each pair; a link opens its layout.`));
}

function drawPareto(host, rows, names, state) {
  const figures = names.filter((name) => FIGURES[name]), x = figures.includes(state.x) ? state.x : 'memory',
        y = figures.includes(state.y) ? state.y : 'mfu';
  const best = front(rows, x, y),
        rest = rows.filter((r) => !best.includes(r) && Number.isFinite(r[x]) && Number.isFinite(r[y]));
  const point = (kind) => (r) => ({
    x: r[x],
    y: r[y],
    title: `${r.layout}: ${digits(r[x])} ${labelOf(x)}, ${digits(r[y])} ${labelOf(y)}`,
    href: kind === 'best' ? r.href : null,
    kind
  });
  fill(host,
    plot({
      label: `Pareto front of ${labelOf(x)} and ${labelOf(y)}`,
      height: 440,
      x: {label: labelOf(x)},
      y: {label: labelOf(y)},
      series: [
        ...(state.dominated ? [{cloud: true, points: rest.map(point(''))}] : []),
        {line: 'straight', points: best.map(point('best'))}
      ]
    },
      Math.max(340, host.clientWidth - 10)),
    h('p', {class: 'hint'}, `${count(best.length)} points are not beaten in both figures; ${count(rest.length)} are.`));
}
