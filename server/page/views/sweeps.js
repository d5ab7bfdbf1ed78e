// Sweeps: all of them, the newest first.
import {call} from '../lib/api.js';
import {fill, h, table} from '../lib/dom.js';
import {age, count, percent, seconds, words} from '../lib/format.js';
import {mayOperate, startSweep} from '../lib/measure.js';
import {planRequest, question, questionLink} from '../lib/question.js';
import {allPages, bestOf, stateChip, sweepLink} from '../lib/trials.js';
import {poll} from '../lib/watch.js';

export const title = 'Sweeps';
const PERIOD_MS = 4000;

export function mount(root, {signal}) {
  const list = h('div', {class: 'card'}, h('p', {class: 'muted'}, '…')), best = new Map();
  fill(root,
    h('div', {class: 'page'}, h('div', {class: 'bar-row'}, h('h1', {}, 'Sweeps')), mayOperate() && startForm(), list));

  async function refresh() {
    try {
      const sweeps = await allPages('Sweeps/ListSweeps', {page_size: 200}, 'sweeps', {signal, most: 200});
      fill(list, sweeps.length ? sweepTable(sweeps, best) : empty());
      await findBest(sweeps, best, () => fill(list, sweepTable(sweeps, best)), signal);
    } catch (error) {
      if (!signal.aborted && error.code !== 'LOST') fill(list, h('div', {class: 'trouble'}, error.message));
    }
  }

  return {update: poll(refresh, PERIOD_MS, signal)};
}

// The best trial of each sweep; once a sweep has ended it does not change.
async function findBest(sweeps, best, show, signal) {
  for (const sweep of sweeps) {
    const known = best.get(sweep.name);
    if (known?.sequence === sweep.last_sequence) continue;
    const {trials} = await call(
      'Sweeps/ListTrials', {parent: sweep.name, order_by: 'step_s', page_size: 1, view: 'TRIAL_VIEW_BASIC'}, {signal});
    best.set(sweep.name, {sequence: sweep.last_sequence, trial: bestOf(trials)});
    show();
  }
}

function sweepTable(sweeps, best) {
  const bestOfSweep = (s) => best.get(s.name)?.trial;
  return table(
    [
      {head: 'Sweep', class: 'keys', cell: (s) => [sweepLink(s.name), h('div', {class: 'muted'}, s.reason)]},
      {head: 'State', cell: (s) => stateChip(s.state, 'SWEEP_STATE_')},
      {head: 'Model', cell: (s) => s.model},
      {head: 'Cluster', class: 'tight', cell: (s) => `${count(s.gpus)} × ${s.cluster}`},
      {
        head: 'Trials',
        cell: (s) => [`${s.trials_ended} of ${s.max_trials || s.trials}`,
          h('div', {class: 'muted'}, Object.entries(s.trials_by_state).map(([state, n]) => `${n} ${words(state)}`).join(', '))]
      },
      {head: 'Best step', class: 'r', cell: (s) => (bestOfSweep(s) ? seconds(bestOfSweep(s).figures.step_s) : '–')},
      {head: 'MFU', class: 'r', cell: (s) => (bestOfSweep(s)?.figures.mfu ? percent(bestOfSweep(s).figures.mfu) : '–')},
      ...(sweeps.some((s) => s.actor) ? [{head: 'Who', cell: (s) => s.actor || '–'}] : []),
      {head: 'Age', class: 'r', cell: (s) => age(s.create_time)},
    ],
    sweeps, {caption: 'Sweeps, the newest first'});
}

function empty() {
  return h('div', {class: 'empty'}, h('h2', {}, 'No sweep yet'),
    h('p', {},
      'A sweep measures the best layouts of a question in a few real training steps. ',
        'It needs an agent on the machine with the devices:'),
    h('pre', {}, 'meshwright agent --server HOST:PORT --devices cuda'));
}

// Starts a sweep of the question that the planning views have.
function startForm() {
  const trials = h('input', {name: 'trials', value: '12', inputmode: 'numeric'}),
        gain = h('input', {name: 'gain', value: '1', inputmode: 'decimal'});
  const steps = h('input', {name: 'steps', placeholder: 'until the median is known', inputmode: 'numeric'});
  return h('details', {class: 'card'},
    h('summary', {}, h('b', {}, 'Start a sweep'),
      h('span', {class: 'muted'}, ` of ${question.model} on ${question.gpus} × ${question.cluster}`)),
    h('form', {
      class: 'inline',
      onsubmit: (event) => {
        event.preventDefault();
        startSweep({
          trials: Number(trials.value),
          min_gain: Number(gain.value) / 100,
          ...(steps.value && {steps: Number(steps.value)})
        });
      }
    },
      h('label', {}, 'At most trials', trials), h('label', {}, 'Least gain, %', gain),
      h('label', {}, 'Steps of a trial', steps), h('button', {class: 'primary'}, 'Start it'),
      h('p', {class: 'hint message'},
        `Sequences of ${count(planRequest().seq_len)} tokens, a batch of ${count(planRequest().global_batch)}. `,
        h('a', {href: questionLink('plan')}, 'Change the question'), '.')));
}
