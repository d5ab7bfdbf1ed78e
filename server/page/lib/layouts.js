// How layouts and their figures are shown, in every view.
import {copyButton, h, table, toast} from './dom.js';
import {bytes, chance, count, digits, percent, seconds} from './format.js';
import {MOST_PINS, pins, questionLink, togglePin} from './question.js';

// Keys with the value that stands for "not used", which are shown pale.
const OFF = /^(tp1|cp1|pp1|dp1|ep1|etp1|vpp1|zero0|sp0|rc=none|sched=1f1b)$/;

export function layoutText(text, options = {}) {
  const parts = text.split('.').map((part, i) => [
    i > 0 && h('span', {class: 'off'}, '.'),
    h('span', {class: OFF.test(part) ? 'off' : 'on'}, part),
    h('wbr'),
  ]);
  const more = Object.entries(options).map(([name, value]) => ` ${name}=${value}`).join('');
  return [...parts, more && h('span', {class: 'on'}, more)];
}

// A sentence of the server's, in which layouts look like layouts.
export function prose(text) {
  const parts = text.split(/(\btp\d+(?:\.[\w=:+]+)+)/);
  return parts.map((part, i) => (i % 2 ? h('span', {class: 'layout-text'}, layoutText(part)) : part));
}

export const layoutLink = (text, options, more = {}) =>
  h('a', {class: 'layout-text', href: questionLink('layout', {layout: text, ...more})}, layoutText(text, options));

export const deviceBytes = (memory) => Number(memory.total_bytes) / memory.fraction_of_device;

// A bar of the memory of the fullest device, with a line at what a device may hold.
export function memoryBar(estimate, allowed) {
  const fraction = estimate.memory.fraction_of_device, over = Number(estimate.memory.total_bytes) > allowed;
  return h('span', {class: 'spark', 'aria-hidden': 'true'},
    h('i', {class: over && 'over', style: {width: `${Math.min(1, fraction) * 100}%`}}),
    h('i', {class: 'limit', style: {left: `${Math.min(1, allowed / deviceBytes(estimate.memory)) * 100}%`}}));
}

// The interval of the step on a common scale from 0 to `most` seconds.
export const stepBar = (estimate, most) => h('span', {class: 'spark', 'aria-hidden': 'true'}, h('i', {
  class: 'range',
  style: {
    left: `${(estimate.step_low_s / most) * 100}%`,
    width: `${((estimate.step_high_s - estimate.step_low_s) / most) * 100}%`
  }
}),
  h('i', {class: 'dot', style: {left: `${(estimate.time.step_s / most) * 100}%`}}));

export function pinButton(text) {
  const button = h('button', {
    type: 'button',
    class: 'quiet small',
    'aria-pressed': String(pins().includes(text)),
    'aria-label': `Pin ${text} for Compare`,
    title: 'Pin for Compare'
  },
    pins().includes(text) ? 'pinned' : 'pin');
  button.addEventListener('click', () => {
    if (!pins().includes(text) && pins().length === MOST_PINS)
      toast(`Compare takes ${MOST_PINS} layouts: the oldest pin went.`);
    togglePin(text);
    const on = pins().includes(text);
    button.setAttribute('aria-pressed', String(on));
    button.textContent = on ? 'pinned' : 'pin';
  });
  return button;
}

const difference = (f) => (Math.abs(f) < 0.0005 ? '± 0 %' : `${f > 0 ? '+' : '−'}${percent(Math.abs(f))}`);

// A table of LayoutEstimates. `ranked` numbers them; `selected` is a layout's text.
export function layoutTable(list, allowed, {caption, ranked = true, selected = '', first = list[0], extra = []} = {}) {
  const most = Math.max(...list.map((e) => e.step_high_s)) || 1;
  const columns = [
    ranked && {head: '#', class: 'r idx', cell: (e, i) => i + 1},
    {head: 'Layout', class: 'keys', cell: (e) => layoutLink(e.layout, e.options)},
    ...extra,
    {head: 'Memory', class: 'r', cell: (e) => [bytes(e.memory.total_bytes), memoryBar(e, allowed)]},
    {
      head: 'Step',
      class: 'r',
      cell: (e) => [h('span', {title: `80 % of runs: ${seconds(e.step_low_s)} to ${seconds(e.step_high_s)}`},
                      seconds(e.time.step_s)),
        stepBar(e, most)]
    },
    {
      head: 'Over the first',
      class: 'r extra',
      cell: (e) => (first && e.layout !== first.layout ? difference(e.time.step_s / first.time.step_s - 1) : '')
    },
    {head: 'MFU', class: 'r', cell: (e) => percent(e.mfu)},
    {head: 'Tokens/s/GPU', class: 'r extra', cell: (e) => count(Math.round(e.tokens_per_s_per_gpu))},
    {
      head: 'P(OOM)',
      class: 'r',
      cell: (e) => h('span', {class: e.oom_probability > 0.2 ? 'bad'
          : e.oom_probability > 0.05                         ? 'warn'
                                                             : ''},
        chance(e.oom_probability))
    },
    {head: h('span', {class: 'sr'}, 'Pin'), class: 'r', cell: (e) => pinButton(e.layout)},
  ];
  return table(columns.filter(Boolean), list, {caption, rowProps: (e) => ({class: e.layout === selected && 'picked'})});
}

// The parts of a device's memory and of a step, in the order in which they are drawn.
export const MEMORY_PARTS = [
  ['weights', 'k1'], ['gradients', 'k2'], ['optimizer', 'k3'], ['activations', 'k4'], ['loss', 'k5'],
  ['workspace', 'k6'], ['fragmentation', 'k9'], ['overhead', 'k7'], ['correction', 'k8']
];
export const TIME_PARTS = [
  ['compute', 'compute', 'k4'], ['recompute', 'recompute', 'k6'], ['tp', 'tensor parallel', 'k1'],
  ['cp', 'context parallel', 'k3'], ['ep', 'expert parallel', 'k5'], ['pp', 'pipeline messages', 'k8'],
  ['dp', 'data parallel', 'k2'], ['bubble', 'pipeline bubble', 'k9'], ['offload', 'offload', 'k1'],
  ['optimizer', 'optimizer', 'k3'], ['straggler', 'slower devices', 'k7'], ['pressure', 'full memory', 'k8']
];

// One sentence on what an answer rests on, the runs of the user, and its notes.
export function restsOn(answer) {
  const measured = answer.measured ?? [];
  return [
    h('p', {}, answer.rests_on.sentence),
    measured.length > 0 &&
      table(
        [
          {head: 'Your run', class: 'keys', cell: (r) => h('span', {class: 'layout-text'}, layoutText(r.layout))},
          {
            head: 'Step',
            class: 'r',
            cell: (r) => (r.out_of_memory ? 'out of memory'
                : r.measured_step_s       ? seconds(r.measured_step_s)
                                          : '–')
          },
          {head: 'Estimate', class: 'r', cell: (r) => seconds(r.step_before_s)},
          {head: 'Corrected', class: 'r', cell: (r) => seconds(r.step_s)},
          {head: 'Peak', class: 'r', cell: (r) => (r.measured_peak_bytes ? bytes(r.measured_peak_bytes) : '–')},
          {head: 'Estimate', class: 'r', cell: (r) => bytes(r.peak_before_bytes)},
          {head: 'Corrected', class: 'r', cell: (r) => bytes(r.peak_bytes)},
        ],
        measured, {caption: 'Your runs beside their estimates'}),
    answer.notes?.length > 0 && h('ul', {class: 'notes'}, answer.notes.map((note) => h('li', {}, note))),
  ];
}

export const tile = (name, value, small) =>
  h('div', {}, h('dt', {}, name), h('dd', {}, value, small && h('small', {}, small)));

export const figureTiles = (e, allowed) => h('dl', {class: 'tiles'},
  tile('Step', seconds(e.time.step_s), `80 %: ${seconds(e.step_low_s)} – ${seconds(e.step_high_s)}`),
  tile('MFU', percent(e.mfu), `${digits(e.tflops_per_gpu)} TFLOP/s per GPU`),
  tile('Tokens per second', count(Math.round(e.tokens_per_s)), `${count(Math.round(e.tokens_per_s_per_gpu))} per GPU`),
  tile('GPU memory', bytes(e.memory.total_bytes),
    `${percent(e.memory.fraction_of_device)} of ${bytes(deviceBytes(e.memory))}`),
  tile('P(OOM)', h('span', {class: Number(e.memory.total_bytes) > allowed ? 'bad' : ''}, chance(e.oom_probability)),
    `80 %: ${bytes(e.peak_low_bytes)} – ${bytes(e.peak_high_bytes)}`));

export const copyLayout = (text) => copyButton(text, 'Copy layout');
