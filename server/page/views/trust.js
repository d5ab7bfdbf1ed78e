// Trust: on which evidence answers rest, and what was never measured.
import {call} from '../lib/api.js';
import {fill, h, table} from '../lib/dom.js';
import {listPresets} from '../lib/form.js';
import {big, bytes, count, percent, words} from '../lib/format.js';
import {restsOn} from '../lib/layouts.js';
import {change, question, questionLink, recommendRequest} from '../lib/question.js';

export const title = 'Trust';
const KINDS = {
  runs: ['fitted to measured runs', 'good'],
  benchmark: ['its parts were measured', 'good'],
  data_sheet: ['a data sheet', 'warn'],
  unverified: ['a data sheet that nobody checked', 'bad'],
  assumption: ['an assumption', 'bad']
};
const ORDER = Object.keys(KINDS);

export function mount(root, {signal}) {
  const page = h('div', {class: 'page'});
  fill(root, page);
  async function show() {
    try {
      const [presets, answer] = await Promise.all(
        [listPresets(), call('Planner/Recommend', recommendRequest({top: 1}), {signal}).catch(() => null)]);
      const clusters = sorted(presets.cluster_presets), profiles = sorted(presets.profile_presets);
      const never = [...clusters, ...profiles].filter((p) => ORDER.indexOf(p.evidence?.kind) > 1);
      fill(page, h('h1', {}, 'What can be trusted'),
        answer &&
          h('div', {class: 'card'},
            h('h2', {},
              `This question: ${question.model} on ${question.gpus} × ${question.cluster} with ${question.framework}`),
            restsOn(answer)),
        presets.left_out.length > 0 && h('div', {class: 'card'}, h('h2', {}, 'Published runs that no fit has seen'),
          h('p', {class: 'muted'},
            'Each file of runs was left out of every fit and then predicted. A question of yours is such a case.'),
          leftOutTable(presets.left_out)),
        h('div', {class: 'card'}, h('h2', {}, 'Clusters'),
          presetTable(clusters,
            [
              {head: 'Device', cell: (c) => c.device},
              {head: 'Memory', class: 'r', cell: (c) => bytes(c.memory_bytes)},
              {
                head: 'bf16 peak',
                class: 'r',
                cell: (c) => (c.peak_bf16_flops ? big(c.peak_bf16_flops, 'FLOP/s') : '–')
              },
            ],
            'cluster')),
        h('div', {class: 'card'}, h('h2', {}, 'Frameworks'),
          presetTable(profiles, [{head: 'Program', cell: (p) => p.framework}], 'framework')),
        h('div', {class: 'card'},
          h('h2', {}, `Never measured: ${count(never.length)} of ${count(clusters.length + profiles.length)} presets`),
          h('p', {}, never.map((p) => p.name).join(', '), '. Their answers have the widest intervals; '),
          h('p', {class: 'muted'}, 'One run of your own, in ', h('a', {href: questionLink('layout')}, 'Layout'),
            ' under “I measured it”, corrects all of them.')));
    } catch (error) {
      if (!signal.aborted && error.code !== 'LOST') fill(page, h('div', {class: 'trouble'}, error.message));
    }
  }
  show();
  return {update: show};
}

const LEVELS = {
  fitted_source: 'the same source',
  framework_and_chip: 'framework and chip fitted to other runs',
  framework: 'framework fitted, on another chip',
  chip: 'chip fitted, with another framework',
  neither: 'neither fitted'
};

function leftOutTable(files) {
  const inside = (levels) => levels.map((l) => h('div', {},
    `${percent(l.inside, 0)} of ${count(l.rows)} `, h('span', {class: 'muted'}, LEVELS[l.level] ?? words(l.level))));
  const share = (value, of) => (value === undefined ? '–' : `${percent(value, 0)} of ${count(of)}`);
  const after = (f) => (f.median_error_after_run === undefined ? '–' : percent(f.median_error_after_run));
  return table([
    {head: 'File', cell: (f) => f.name},
    {head: 'Runs', class: 'r', cell: (f) => count(f.rows)},
    {head: 'Median error of a step', class: 'r', cell: (f) => percent(f.median_error)},
    {head: 'After one run', class: 'r', cell: after},
    {head: 'Steps in the 80 % interval', cell: (f) => inside(f.levels)},
    {head: 'Peaks in it', class: 'r', cell: (f) => share(f.peaks_inside, f.peaks)},
  ], [...files].sort((a, b) => a.median_error - b.median_error), {caption: 'Files of published runs and their errors'});
}

const sorted = (list) => [...list].sort((a, b) => ORDER.indexOf(a.evidence?.kind) - ORDER.indexOf(b.evidence?.kind) ||
    Number(b.evidence?.rows) - Number(a.evidence?.rows));

function presetTable(list, more, name) {
  const most = Math.max(...list.map((p) => p.median_error ?? 0)) || 1;
  const kind = (p) => KINDS[p.evidence?.kind] ?? [words(p.evidence?.kind ?? '–'), ''];
  const planWith = (p) => h('button', {
    type: 'button', class: 'quiet small', title: 'Plan with it', onclick: () => {
      change({[name]: p.name});
      location.hash = questionLink('plan');
    },
  }, p.name);
  const error = (p) => (p.median_error === undefined ? '–' : [
    percent(p.median_error),
    h('span', {class: 'spark', 'aria-hidden': 'true'}, h('i', {style: {width: `${(p.median_error / most) * 100}%`}})),
  ]);
  const based = (p) => (p.based_on ? `based on ${p.based_on}` : '');
  const sources = (p) => [p.evidence?.sources?.join(', '), based(p)].filter(Boolean).join('; ');
  return table([
    {head: 'Preset', cell: planWith},
    ...more,
    {head: 'Rests on', cell: (p) => h('span', {class: `chip ${kind(p)[1]}`}, kind(p)[0])},
    {head: 'Measured steps', class: 'r', cell: (p) => (Number(p.evidence?.rows) ? count(p.evidence.rows) : '–')},
    {head: 'Median error', class: 'r', cell: error},
    {head: 'Sources', class: 'keys', cell: (p) => h('span', {class: 'muted'}, sources(p))},
  ], list, {caption: `Presets of ${name}s and their evidence`});
}
