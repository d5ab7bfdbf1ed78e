// One layer of one micro-batch on one rank: the operators of its forward and of its backward, and those that take most.
import {h, table} from './dom.js';
import {count, percent, seconds, words} from './format.js';
import {legend, longest, stackedBars} from './bars.js';

const MOST_ROWS = 6;

// What a segment is, with its colour, in the order of the legend.
const PRODUCT = ['matrix products', 'k4'], ATTENTION = ['attention and cores of recurrences', 'k2'],
      OTHER = ['norms and element-wise', 'k7'], REPEATED = ['repeated forward', 'k6'],
      HOST = ['waiting for the host', 'k8'];
const COLLECTIVES = {tp: ['tensor parallel', 'k1'], cp: ['context parallel', 'k3'], ep: ['expert parallel', 'k5']};
const AXES = Object.keys(COLLECTIVES);
const SORTS = [PRODUCT, ATTENTION, OTHER, REPEATED, HOST, ...Object.values(COLLECTIVES)];
const SORT_OF_KIND = {matmul: PRODUCT, attention: ATTENTION, core: ATTENTION, host: HOST};

const sortOf = (op) => SORT_OF_KIND[op.kind] ?? OTHER;
const nameOf = (op) => (op.kind === 'host' ? HOST[0] : words(op.name));

// The segments of a pass, each [name, colour, seconds].
function segments(ops, pass) {
  return ops.flatMap((op) => [
    [nameOf(op), sortOf(op)[1], op[`${pass}_s`]],
    ...Object.entries(COLLECTIVES).map(([axis, [what, colour]]) => [
      `${nameOf(op)}, ${what}`, colour, op[`${axis}_${pass}_s`]
    ])
  ]).filter(([, , s]) => s > 0);
}

function rowsOf(kind) {
  const again = kind.operators.filter((op) => op.recompute_s > 0)
                  .map((op) => [`${nameOf(op)}, repeated`, REPEATED[1], op.recompute_s]);
  const row = (name, parts) => ({name, parts, figure: seconds(parts.reduce((sum, [, , s]) => sum + s, 0))});
  return [
    row('forward', segments(kind.operators, 'forward')),
    row('backward', [...again, ...segments([...kind.operators].reverse(), 'backward')])
  ].filter((r) => r.parts.length > 0);
}

const forwardOf = (op) => op.forward_s + AXES.reduce((sum, axis) => sum + op[`${axis}_forward_s`], 0);
const backwardOf = (op) =>
  op.backward_s + op.recompute_s + AXES.reduce((sum, axis) => sum + op[`${axis}_backward_s`], 0);

const title = ({name, layers, recomputed}) =>
  `${count(layers)} ${layers === '1' ? 'layer' : 'layers'}${recomputed ? ', recomputed' : ''}: ${name}`;

// The operators that take most of the time of all layers.
function longestOperators(kinds) {
  const rows = kinds.flatMap((kind) => kind.operators.map((op) => ({
    kind,
    op,
    forward: forwardOf(op),
    backward: backwardOf(op),
    all: Number(kind.layers) * (forwardOf(op) + backwardOf(op))
  })));
  const whole = rows.reduce((sum, row) => sum + row.all, 0);
  const columns = [
    {
      head: 'Operator',
      class: 'keys',
      cell: (r) => [nameOf(r.op), kinds.length > 1 && h('small', {class: 'muted'}, ` in ${title(r.kind)}`)]
    },
    {head: 'Forward', class: 'r', cell: (r) => seconds(r.forward)},
    {head: 'Backward', class: 'r', cell: (r) => seconds(r.backward)},
    {head: kinds.length > 1 ? 'Of all layers' : 'Of the layer', class: 'r', cell: (r) => percent(r.all / whole)},
  ];
  return table(columns, rows.sort((a, b) => b.all - a.all).slice(0, MOST_ROWS),
    {caption: 'Operators that take most'});
}

// The layers of a Schedule's answer, kind by kind, on one scale.
export function layerTimeline(kinds) {
  const rows = kinds.map(rowsOf), whole = Math.max(...rows.map(longest)),
        used = new Set(rows.flat(2).flatMap((row) => row.parts.map(([, colour]) => colour)));
  return [
    kinds.map((kind, i) => [h('h3', {}, title(kind)), stackedBars(rows[i], whole, {joints: true})]),
    legend(SORTS.filter(([, colour]) => used.has(colour))),
    h('p', {class: 'hint tail'},
      'Times include the collectives that compute waits for; those of the backward include what it repeats.'),
    longestOperators(kinds)
  ];
}
