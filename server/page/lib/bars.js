// Bars: the memory of ranks, the waterfall of a step, and stacked phases.
import {h} from './dom.js';
import {bytes, percent, seconds} from './format.js';
import {deviceBytes, MEMORY_PARTS, TIME_PARTS} from './layouts.js';

const position = (from, to, whole) =>
  ({left: `${(from / whole) * 100}%`, width: `${(Math.max(0, to - from) / whole) * 100}%`});

export const legend = (entries) =>
  h('ul', {class: 'legend'}, entries.map(([name, kind]) => h('li', {}, h('i', {class: kind}), name)));

// One bar for each pipeline rank, neighbours with equal memory as one, against what a device may hold and has.
export function memoryByRank(stages, allowed) {
  const device = deviceBytes(stages[0]), most = Math.max(device, ...stages.map((s) => Number(s.total_bytes)));
  const fullest = Math.max(...stages.map((s) => Number(s.total_bytes)));
  const groups = [];
  for (const stage of stages) {
    const last = groups.at(-1);
    if (last && last.stage.total_bytes === stage.total_bytes && last.stage.activations_bytes === stage.activations_bytes)
      last.to = stage.pipeline_rank;
    else
      groups.push({stage, from: stage.pipeline_rank, to: stage.pipeline_rank});
  }
  const used = MEMORY_PARTS.filter(([part]) => stages.some((s) => Number(s[`${part}_bytes`]) > 0));
  return [
    h('div', {class: 'bars'}, groups.map(({stage, from, to}) => {
      const total = Number(stage.total_bytes);
      let before = 0;
      const pieces = used.map(([part, kind]) => {
        const size = Math.max(0, Number(stage[`${part}_bytes`]));
        before += size;
        return h('i', {class: kind, title: `${part}: ${bytes(size)}`, style: position(before - size, before, most)});
      });
      return [
        h('span', {class: total === fullest ? 'name total' : 'name'},
          stages.length === 1 ? 'all ranks'
            : from === to     ? `rank ${from}`
                              : `ranks ${from}–${to}`),
        h('span', {
              class: 'track',
              role: 'img',
              'aria-label': used.map(([part]) => `${part} ${bytes(stage[`${part}_bytes`])}`).join(', ')
        },
          pieces, h('i', {class: 'mark', style: {left: `${(allowed / most) * 100}%`}}),
              h('i', {class: 'mark edge', style: {left: `${(device / most) * 100}%`}})),
            h('span', {class: `figure ${total > allowed ? 'bad' : ''    }`}, bytes(total))
          ];
    })),
    legend([
      ...used, [`may hold ${bytes(allowed)} (${percent(allowed / device, 0)})`, 'mark'],
      [`has ${bytes(device)}`, 'edge']
    ]),
  ];
}

// The parts of a step, each beginning where the one before ended.
export function waterfall(time) {
  const step = time.step_s;
  let before = 0;
  const rows = TIME_PARTS.map(([part, name, kind]) => [name, kind, time[`${part}_s`]]).filter(([, , s]) => s > 0);
  return h('div', {class: 'bars'}, rows.map(([name, kind, s]) => {
    before += s;
    return [
      h('span', {class: 'name'}, name),
      h('span', {class: 'track'}, h('i', {class: kind, style: position(before - s, before, step)})),
      h('span', {class: 'figure'}, `${seconds(s)} · ${percent(s / step)}`)
    ];
  }),
    h('span', {class: 'name total'}, 'step'),
    h('span', {class: 'track'}, h('i', {class: 'k7', style: {width: '100%'}})),
    h('span', {class: 'figure total'}, seconds(step)));
}

// Rows of parts stacked beside each other: [{name, parts: [[name, kind, value]], figure}] on one scale.
export function stacked(rows) {
  const used = new Map(rows.flatMap((row) => row.parts.filter(([, , v]) => v > 0).map(([name, kind]) => [name, kind])));
  return [stackedBars(rows, longest(rows)), legend([...used])];
}

export const longest = (rows) => Math.max(...rows.map((row) => row.parts.reduce((sum, [, , v]) => sum + v, 0)), 1e-12);

// The rows alone, on a scale from 0 to `whole`; with `joints`, a line parts neighbours that have the same colour.
export function stackedBars(rows, whole, {joints = false} = {}) {
  return h('div', {class: 'bars'}, rows.map((row) => {
    let before = 0;
    return [
      h('span', {class: 'name'}, row.name),
      h('span', {
        class: joints ? 'track joints' : 'track',
        role: 'img',
        'aria-label': row.parts.map(([name, , v]) => `${name} ${seconds(v)}`).join(', ')
      },
        row.parts.map(([name, kind, v]) => {
          before += v;
          return h('i', {class: kind, title: `${name}: ${seconds(v)}`, style: position(before - v, before, whole)});
        })),
      h('span', {class: 'figure'}, row.figure)
    ];
  }));
}
