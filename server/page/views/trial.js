// Trial: one layout that ran: what it was, what it took by rank, and how it ended.
import {call} from '../lib/api.js';
import {stacked, waterfall} from '../lib/bars.js';
import {copyButton, fill, h, table} from '../lib/dom.js';
import {age, bytes, clock, count, digits, percent, seconds, word} from '../lib/format.js';
import {copyLayout, layoutText, tile} from '../lib/layouts.js';
import {sparkline} from '../lib/plot.js';
import {link, route} from '../lib/route.js';
import {interval, shortName, stateChip, trialLink} from '../lib/trials.js';
import {poll} from '../lib/watch.js';

export const title = 'Trial';
const PERIOD_MS = 2000;
const PHASES = [
  ['forward', 'k4'], ['backward', 'k1'], ['tensor_parallel', 'k3'], ['context_parallel', 'k6'],
  ['expert_parallel', 'k5'], ['pipeline', 'k8'], ['bubble', 'k9'], ['data_parallel', 'k2'], ['optimizer', 'k7'],
  ['other', 'k0']
];
const LIVE = ['TRIAL_STATE_PENDING', 'TRIAL_STATE_ASSIGNED', 'TRIAL_STATE_RUNNING'];

export function mount(root, {signal}) {
  const page = h('div', {class: 'page'});
  let ended = '';
  fill(root, page);
  async function refresh() {
    const name = route.params.get('name') ?? '';
    if (ended === name) return;
    try {
      const trial = await call('Sweeps/GetTrial', {name}, {signal});
      ended = LIVE.includes(trial.state) ? '' : name;
      fill(page, head(trial), trial.measured && measuredParts(trial),
        trial.predicted && !trial.measured?.ranks?.length && predictedParts(trial), attempts(trial), plan(trial));
    } catch (error) {
      if (!signal.aborted && error.code !== 'LOST')
        fill(page,
          h('div', {class: 'trouble'}, h('p', {class: 'sentence'}, error.message),
            h('a', {href: link('sweeps')}, 'All sweeps')));
    }
  }
  return {update: poll(refresh, PERIOD_MS, signal)};
}

function head(t) {
  const m = t.measured, sweep = t.name.split('/trials/')[0];
  return h('div', {class: 'verdict'},
    h('div', {class: 'bar-row actions'},
      h('h1', {}, h('a', {href: link('sweep', {name: sweep})}, shortName(sweep)), ` #${t.name.split('/').at(-1)} `,
        stateChip(t.state, 'TRIAL_STATE_')),
      copyLayout(t.layout)),
    h('p', {class: 'sentence'}, h('span', {class: 'layout-text'}, layoutText(t.layout, t.predicted?.options))),
    h('p', {}, t.reason, t.reused_from && [' Its result is that of ', trialLink(t.reused_from), '.']),
    h('p', {class: 'muted'}, `${t.model} on ${count(t.gpus)} × ${t.cluster}`,
      t.agent && `, agent ${t.agent} on ${t.host}`, t.end_time && `, ended ${age(t.end_time)}`, `, seed ${t.seed}`),
    m && m.step_s > 0 &&
      h('dl', {class: 'tiles'},
        tile('Step, median', seconds(m.step_s), m.step_interval ? `95 %: ${interval(m)}` : 'too few steps for an interval'),
        tile('Predicted', t.predicted ? seconds(t.predicted.time.step_s) : '–',
          t.predicted && `measured is ${digits(m.step_s / t.predicted.time.step_s)} of it`),
        tile('MFU', percent(m.mfu_of_peak || m.mfu), t.predicted && `predicted ${percent(t.predicted.mfu)}`),
        tile('Peak', t.figures?.peak_bytes ? bytes(t.figures.peak_bytes) : '–',
          t.predicted && `predicted ${bytes(t.predicted.memory.total_bytes)}`),
        tile('Steps', count(m.step_times_s.length), {
          STEPS: 'all that were asked',
          TIGHT: 'the median is known',
          BEATEN: 'slower than the best',
          MOST_TIME: 'the time was used up'
        }[m.stop_reason?.replace('STOP_REASON_', '')])),
    m?.message &&
      h('div', {class: 'trouble'},
        h('p', {}, h('b', {}, word(m.fault, 'FAULT_') || word(m.outcome, 'OUTCOME_')),
          m.oom &&
            `: rank ${m.oom.rank} held ${bytes(m.oom.held_bytes)} of ${bytes(m.oom.limit_bytes)} ` +
              `and asked for ${bytes(m.oom.requested_bytes)}`),
        h('pre', {tabindex: 0}, m.message)));
}

function measuredParts(t) {
  const m = t.measured, ranks = m.ranks, phases = ranks.filter((r) => r.phases);
  return [
    h('div', {class: 'columns'},
      phases.length > 0 &&
        h('div', {class: 'card'},
          h('h2', {}, 'Phases of a step by rank ', h('small', {}, 'measured, means over the timed steps')),
          stacked(phases.map((r) => ({
            name: `rank ${r.rank}`,
            figure: seconds(PHASES.reduce((sum, [p]) => sum + r.phases[`${p}_s`], 0)),
            parts: PHASES.map(([p, kind]) => [p.replaceAll('_', ' '), kind, r.phases[`${p}_s`]])
          })))),
      t.predicted && h('div', {class: 'card'}, h('h2', {}, 'Predicted step'), waterfall(t.predicted.time))),
    ranks.length > 0 &&
      h('div', {class: 'card'}, h('h2', {}, 'Memory by rank'),
        table(
          [
            {head: 'Rank', class: 'r', cell: (r) => r.rank},
            {head: 'Pipeline rank', class: 'r', cell: (r) => r.pipeline_rank},
            {head: 'Peak', class: 'r', cell: (r) => bytes(r.peak_bytes)},
            {head: 'Estimated', class: 'r', cell: (r) => (Number(r.estimated_bytes) ? bytes(r.estimated_bytes) : '–')},
            {
              head: 'Measured / estimated',
              class: 'r',
              cell: (r) => (Number(r.estimated_bytes) ? digits(r.peak_bytes / r.estimated_bytes, 4) : '–')
            },
            {head: 'In flight', class: 'r', cell: (r) => r.peak_in_flight},
            {
              head: 'Reserved',
              class: 'r',
              cell: (r) => (r.device_memory ? bytes(r.device_memory.peak_reserved_bytes) : '–')
            },
          ],
          ranks, {caption: 'Memory by rank'})),
    h('div', {class: 'columns'},
      m.step_times_s.length > 1 &&
        h('div', {class: 'card'}, h('h2', {}, 'Step times'), sparkline(m.step_times_s, seconds, 'Step')),
      m.losses.length > 1 &&
        h('div', {class: 'card'}, h('h2', {}, 'Loss'), sparkline(m.losses, (x) => digits(x, 4), 'Loss, nats'))),
    m.command &&
      h('div', {class: 'card'}, h('h2', {}, 'Command ', copyButton(m.command)), h('pre', {tabindex: 0}, m.command)),
    m.log_end && h('div', {class: 'card'}, h('h2', {}, 'End of its log'), h('pre', {tabindex: 0}, m.log_end)),
  ];
}

const predictedParts = (t) => h('div', {class: 'card'}, h('h2', {}, 'Predicted step'), waterfall(t.predicted.time));

function attempts(t) {
  if (!t.attempts.length) return null;
  return h('div', {class: 'card'}, h('h2', {}, 'Attempts'),
    table(
      [
        {head: '#', class: 'r', cell: (a) => a.number},
        {head: 'Outcome', cell: (a) => word(a.outcome, 'ATTEMPT_OUTCOME_') || 'runs'},
        {
          head: 'Agents',
          cell: (a) =>
            a.members.map((m) => `${m.agent} (ranks ${m.first_rank}–${m.first_rank + m.ranks - 1})`).join(', ') || a.agent
        },
        {head: 'From', class: 'tight', cell: (a) => clock(a.start_time)},
        {head: 'To', class: 'tight', cell: (a) => (a.end_time ? clock(a.end_time) : '–')},
        {
          head: 'Why it ran, and why it ended',
          class: 'keys',
          cell: (a) => [a.decision, a.reason && h('div', {class: 'muted'}, a.reason)]
        },
      ],
      t.attempts, {caption: 'Attempts'}));
}

function plan(t) {
  if (!t.plan_json) return null;
  const text = JSON.stringify(JSON.parse(t.plan_json), null, 2);
  return h('details', {class: 'card'}, h('summary', {}, 'Plan that its workers got'), h('p', {}, copyButton(text)),
    h('pre', {tabindex: 0}, text));
}
