// Small plots as SVG, drawn by the page itself: they follow its colours, print, and their points are links.
import {h, svg} from './dom.js';
import {logTicks, tick, ticks} from './format.js';

// plot({x, y, series, identity, label}, width): axes are {label, log, low, high, format}, whose ends default to the
// data's. A series is {points: [{x, y, low, high, left, right, title, href, kind}], line, second, bare, cloud}; `low` to
// `high` is an interval of y, `left` to `right` one of x.
export function plot({x, y, series, identity = false, label, height = 280}, width = 560) {
  const points = series.flatMap((s) => s.points);
  const fields = {x: ['x', 'left', 'right'], y: ['y', 'low', 'high']};
  const values = (names) => points.flatMap((p) => names.map((name) => p[name])).filter(Number.isFinite);
  const both = identity ? values([...fields.x, ...fields.y]) : null;
  const [horizontal, vertical] = [axis(x, both ?? values(fields.x)), axis(y, both ?? values(fields.y))];
  const box = {left: 58, right: width - 12, top: 26, bottom: height - 38};
  const px = (v) => box.left + horizontal.at(v) * (box.right - box.left),
        py = (v) => box.bottom - vertical.at(v) * (box.bottom - box.top);
  return svg('svg', {class: 'plot', viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': label},
    vertical.ticks.map((t) => [svg('path', {class: 'grid', d: `M${box.left} ${py(t)}H${box.right}`}),
                         svg('text', {x: box.left - 8, y: py(t) + 4, 'text-anchor': 'end'}, vertical.format(t))]),
    horizontal.ticks.filter(spaced(px, 46))
      .map((t) => [svg('path', {class: 'grid', d: `M${px(t)} ${box.bottom}v4`}),
             svg('text', {x: px(t), y: box.bottom + 18, 'text-anchor': 'middle'}, horizontal.format(t))]),
    svg('text', {x: box.right, y: height - 4, 'text-anchor': 'end'}, x.label + (x.log ? ' (log)' : '')),
    svg('text', {x: 2, y: 12}, `${y.label}${y.log ? ' (log)' : ''}`), identity && svg('path', {
      class: 'rule',
      d: `M${px(horizontal.low)} ${py(horizontal.low)}L${px(horizontal.high)} ${py(horizontal.high)}`
    }),
    series.map(
      (s) => [s.line && svg('path', {class: `line ${s.second ? 'second' : ''}`, d: pathOf(s, px, py)}),
        s.cloud &&
          svg('path',
            {class: 'cloud', d: s.points.map((p) => `M${px(p.x).toFixed(1)} ${py(p.y).toFixed(1)}h.01`).join('')}),
        !s.bare && !s.cloud && s.points.map((p) => mark(p, s, px, py)),
  ]));
}

function pathOf({points, line}, px, py) {
  return points
    .map((p, i) => (i === 0               ? 'M'
                       : line === 'steps' ? `H${px(p.x)}V`
                                          : 'L') +
        (i && line === 'steps' ? py(p.y) : `${px(p.x)} ${py(p.y)}`))
    .join('');
}

function mark(p, s, px, py) {
  const dot = [
    Number.isFinite(p.low) && svg('path', {class: 'err', d: `M${px(p.x)} ${py(p.low)}V${py(p.high)}`}),
    Number.isFinite(p.left) && svg('path', {class: 'err', d: `M${px(p.left)} ${py(p.y)}H${px(p.right)}`}),
    svg('circle', {class: `dot ${s.second ? 'second' : ''} ${p.kind ?? ''}`, cx: px(p.x), cy: py(p.y), r: 4.5}),
    svg('title', {}, p.title ?? ''),
  ];
  return p.href ? svg('a', {href: p.href, 'aria-label': p.title}, dot) : svg('g', {}, dot);
}

function spaced(px, least) {
  let last = -Infinity;
  return (t) => px(t) - last >= least && ((last = px(t)), true);
}

function axis({log, low, high, format = tick}, values) {
  let from = low ?? Math.min(...values), to = high ?? Math.max(...values);
  if (!Number.isFinite(from)) [from, to] = [log ? 1 : 0, 2];
  if (log)
    [from, to] = [low ?? from / 1.08, high ?? to * 1.08];
  else {
    const pad = (to - from || Math.abs(to) || 1) * 0.06;
    [from, to] = [low ?? from - pad, high ?? to + pad];
  }
  const at = log ? (v) => Math.log(v / from) / Math.log(to / from) : (v) => (v - from) / (to - from);
  return {low: from, high: to, at, format, ticks: log ? logTicks(from, to) : ticks(from, to)};
}

// The width of a plot that shares the page with others beside it.
export const plotWidth = (columns) => Math.max(320, Math.min(innerWidth, 1500) / (innerWidth > 940 ? columns : 1) - 76);

export const legendOf = (entries) =>
  h('ul', {class: 'legend'}, entries.map(([name, kind]) => h('li', {}, h('i', {class: kind}), name)));

// A line of values without axes, with its ends in words.
export function sparkline(values, format, label) {
  const [low, high] = [Math.min(...values), Math.max(...values)], w = 240, tall = 40;
  const x = (i) => (i / Math.max(1, values.length - 1)) * w;
  const y = (v) => tall - 2 - ((v - low) / (high - low || 1)) * (tall - 4);
  const d = values.map((v, i) => `${i ? 'L' : 'M'}${x(i)} ${y(v)}`).join('');
  return h('div', {},
    svg('svg', {
      class: 'plot',
      viewBox: `0 0 ${w} ${tall}`,
      role: 'img',
      'aria-label': `${label}: ${values.map(format).join(', ')}`
    },
      svg('path', {class: 'line', d})),
    h('p', {class: 'hint'},
      `${label}: ${values.length} values, ${format(low)} to ${format(high)}, last ${format(values.at(-1))}`));
}
