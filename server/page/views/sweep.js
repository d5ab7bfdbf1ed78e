// Sweep: one sweep, live: what it found, what it would run next and why, and what may still be gained.
import {call} from '../lib/api.js';
import {fill, h, table} from '../lib/dom.js';
import {age, bytes, clock, count, percent, seconds, word, words} from '../lib/format.js';
import {layoutText} from '../lib/layouts.js';
import {mayOperate} from '../lib/measure.js';
import {legendOf, plot, plotWidth} from '../lib/plot.js';
import {go, link, route} from '../lib/route.js';
import {actionButton, allPages, bestOf, interval, isMeasured, shortName, stateChip, trialLink} from '../lib/trials.js';
import {throttled, watchSweep} from '../lib/watch.js';

export const title = 'Sweep';
const REFRESH_MS = 700, EVENTS = 200;
const ENDED = ['SWEEP_STATE_FINISHED', 'SWEEP_STATE_CANCELLED'];

export function mount(root, {signal}) {
  const name = route.params.get('name') ?? '';
  const parts =
    Object.fromEntries(['verdict', 'next', 'plots', 'trials', 'funnel', 'events'].map((part) => [part, h('div')]));
  const progress = new Map(), events = [];
  fill(root,
    h('div', {class: 'page'}, parts.verdict, parts.plots, h('div', {class: 'card'}, h('h2', {}, 'Trials'), parts.trials),
      h('div', {class: 'columns'},
        h('div', {class: 'card'}, h('h2', {}, 'Why this one next, and what may still be gained'), parts.next),
        h('div', {class: 'card'}, h('h2', {}, 'Events'), parts.events)),
      h('div', {class: 'card'}, h('h2', {}, 'Where the layouts went'), parts.funnel)));

  const refresh = throttled(async () => {
    try {
      const [sweep, trials] = await Promise.all([
        call('Sweeps/GetSweep', {name}, {signal}),
        allPages('Sweeps/ListTrials', {parent: name, page_size: 200}, 'trials', {signal})
      ]);
      show(parts, sweep, trials, progress);
      showNext(parts.next, await call('Sweeps/GetSweepPlan', {name, trials: 3}, {signal}), sweep);
    } catch (error) {
      if (!signal.aborted && error.code !== 'LOST')
        fill(parts.verdict,
          h('div', {class: 'trouble'}, h('p', {class: 'sentence'}, error.message),
            h('a', {href: link('sweeps')}, 'All sweeps')));
    }
  }, REFRESH_MS);

  watchSweep(name, (said) => {
    for (const event of said.events ?? []) {
      if (event.stepped)
        progress.set(event.trial, event.stepped);
      else
        events.unshift(event);
    }
    events.length = Math.min(events.length, EVENTS);
    fill(parts.events,
      h('ol', {class: 'events', tabindex: 0, 'aria-label': 'Events, the newest first'},
        events.map((e) => h('li', {}, h('time', {}, clock(e.time)),
                     h('span', {}, e.trial && [trialLink(e.trial, `#${e.trial.split('/').at(-1)}`), ' '], e.message,
                       e.actor && h('span', {class: 'muted'}, ` by ${e.actor}`))))));
    refresh();
  }, signal);
  refresh();
  return {update: () => (route.params.get('name') === name ? refresh() : 'anew')};
}

function show(parts, sweep, trials, progress) {
  const best = bestOf(trials), ended = ENDED.includes(sweep.state), most = sweep.max_trials || sweep.trials;
  const done = ended ? 1 : sweep.trials_ended / (most || 1);
  fill(parts.verdict, h('div', {class: 'verdict'},
    h('div', {class: 'bar-row actions'},
      h('h1', {}, shortName(sweep.name), ' ', stateChip(sweep.state, 'SWEEP_STATE_')), actions(sweep, ended)),
    h('p', {class: 'sentence'}, best ? verdict(best, ended) : 'Nothing was measured yet. ',
      sweep.reason && sentence(sweep.reason)),
    h('p', {class: 'muted'},
      `${sweep.model} on ${count(sweep.gpus)} × ${sweep.cluster}, sequence ${count(sweep.seq_len)}, `,
      `batch ${count(sweep.global_batch)}, ${word(sweep.dtype, 'DTYPE_')}, ${sweep.profile}; `,
      `${sweep.trials_ended} of at most ${most} trials, ${count(sweep.candidates)} candidates; began ${age(sweep.create_time)}`,
      sweep.actor && `, by ${sweep.actor}`, sweep.end_time && `, ended ${age(sweep.end_time)}`, sweep.rerun_of && `; repeats ${shortName(sweep.rerun_of)}`),
    h('div', {
      class: 'progress', role: 'progressbar', 'aria-label': 'Trials that have ended', 'aria-valuenow': sweep.trials_ended,
      'aria-valuemax': most,
    }, h('i', {style: {width: `${100 * done}%`}}))));
  fill(parts.plots, plots(trials, best));
  fill(parts.trials,
    trials.length ? trialTable(trials, best, progress)
                  : h('p', {class: 'muted'}, `The first trial is chosen once ${sweep.ask ? 'somebody asks' : 'an agent is free'}.`));
  const funnel = sweep.funnel;
  fill(parts.funnel,
    funnel ? h('p', {},
               `${count(funnel.enumerated)} layouts enumerated: ${count(funnel.invalid)} cannot run, `,
               `${count(funnel.memory)} do not fit, ${count(funnel.evaluated)} evaluated; `,
               `the best ${count(sweep.candidates)} are candidates. `,
               h('span', {class: 'muted'},
                 Object.entries(funnel.invalid_by_rule)
                   .sort(([, a], [, b]) => b - a)
                   .slice(0, 6)
                   .map(([rule, n]) => `${words(rule)} ${count(n)}`)
                   .join(', ')))
           : h('p', {class: 'muted'}, 'Its request named all layouts.'));
}

function verdict(best, ended) {
  const {measured, predicted} = best;
  return [
    ended ? 'The fastest is ' : 'The fastest so far is ',
    h('a', {class: 'layout-text', href: link('trial', {name: best.name})}, layoutText(best.layout)), ': ',
    h('b', {}, `${seconds(best.figures.step_s)} a step`), measured?.step_interval && ` (95 %: ${interval(measured)})`,
    predicted && `, predicted ${seconds(predicted.time.step_s)}`, '. ',
  ];
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

function actions(sweep, ended) {
  const {name} = sweep;
  return [
    h('a', {class: 'button', href: link('compare', {sweeps: name})}, 'Compare'),
    h('a', {class: 'button', href: link('space', {from: name})}, 'Space'),
    mayOperate() && !ended &&
      actionButton('Cancel', 'Cancel the trials that have not ended? Results are kept.',
        () => call('Sweeps/CancelSweep', {name}), 'danger'),
    mayOperate() &&
      actionButton('Run again', null,
        async () =>
          go('sweep', {name: (await call('Sweeps/RerunSweep', {name, request_id: crypto.randomUUID()})).name})),
    mayOperate() && ended &&
      actionButton('Delete', `Delete ${shortName(name)} with its trials and events?`,
        async () => {
          await call('Sweeps/DeleteSweep', {name});
          go('sweeps');
        },
        'danger'),
  ];
}

const pointOf = (t) => ({
  title: `#${t.name.split('/').at(-1)} ${t.layout}: ${seconds(t.figures.step_s)}` +
    (t.predicted ? `, predicted ${seconds(t.predicted.time.step_s)}` : ''),
  href: link('trial', {name: t.name})
});

// Measured steps in the order of their ends, and against what was predicted.
function plots(trials, best) {
  const measured = trials.filter(isMeasured).sort((a, b) => Date.parse(a.end_time ?? 0) - Date.parse(b.end_time ?? 0));
  if (!measured.length) return [];
  const width = plotWidth(2);
  const [low, high] = [(t) => t.measured?.step_interval?.low_s, (t) => t.measured?.step_interval?.high_s];
  let least = Infinity;
  const convergence = plot({
    label: 'Step time of each trial in the order of their ends',
    x: {
      label: 'trial, in the order of their ends',
      low: 0.5,
      high: measured.length + 0.5,
      format: (n) => (Number.isInteger(n) ? n : '')
    },
    y: {label: 'step, s'},
    series: [
      {
        line: 'steps',
        bare: true,
        points: measured.map((t, i) => ({x: i + 1, y: (least = Math.min(least, t.figures.step_s))}))
      },
      {
        second: true,
        points: measured.filter((t) => t.predicted)
                  .map((t) => ({...pointOf(t), href: null, x: measured.indexOf(t) + 1, y: t.predicted.time.step_s}))
      },
      {
        points: measured.map(
          (t, i) =>
            ({...pointOf(t), x: i + 1, y: t.figures.step_s, low: low(t), high: high(t), kind: t === best && 'best'}))
      }
    ],
  },
    width);
  const accuracy = plot({
    label: 'Measured step time against predicted',
    identity: true,
    x: {label: 'predicted step, s'},
    y: {label: 'measured step, s'},
    series: [{
      points: measured.filter((t) => t.predicted).map((t) => ({
        ...pointOf(t),
        x: t.predicted.time.step_s,
        y: t.figures.step_s,
        low: low(t),
        high: high(t),
        left: t.predicted.step_low_s,
        right: t.predicted.step_high_s,
        kind: t === best && 'best'
      }))
    }],
  },
    width);
  return h('div', {class: 'columns'},
    h('div', {class: 'card'}, h('h2', {}, 'Convergence'), convergence,
      legendOf([['measured, 95 %', 'k1'], ['predicted', 'k2'], ['best', 'k4']])),
    h('div', {class: 'card'}, h('h2', {}, 'Predicted against measured'), accuracy,
      h('p', {class: 'hint'},
        'The dashed line is measured = predicted. Vertical: 95 % interval of the median; ',
        'horizontal: 80 % interval of the prediction.')));
}

function trialTable(trials, best, progress) {
  const order = (t) => (isMeasured(t)      ? t.figures.step_s
      : t.state === 'TRIAL_STATE_RUNNING'  ? -2
      : t.state === 'TRIAL_STATE_ASSIGNED' ? -1
                                           : 1e30);
  return table(
    [
      {head: '#', class: 'r idx', cell: (t) => trialLink(t.name, t.name.split('/').at(-1))},
      {
        head: 'Layout',
        class: 'keys',
        cell: (t) => [h('a', {class: 'layout-text', href: link('trial', {name: t.name})},
                        layoutText(t.layout, t.predicted?.options)),
          why(t)]
      },
      {
        head: 'State',
        class: 'tight',
        cell: (t) => [stateChip(t.state, 'TRIAL_STATE_'),
          t.state === 'TRIAL_STATE_RUNNING' && progress.has(t.name) &&
            h('div', {class: 'muted'}, `step ${progress.get(t.name).step} of ${progress.get(t.name).total_steps}`)]
      },
      {
        head: 'Step',
        class: 'r',
        cell: (t) => (isMeasured(t) ? h('b', {class: t === best && 'good'}, seconds(t.figures.step_s)) : '–')
      },
      {head: '95 % interval', class: 'r extra', cell: (t) => interval(t.measured)},
      {head: 'Predicted', class: 'r', cell: (t) => (t.predicted ? seconds(t.predicted.time.step_s) : '–')},
      {head: 'MFU', class: 'r', cell: (t) => (t.figures?.mfu ? percent(t.figures.mfu) : '–')},
      {head: 'Peak', class: 'r', cell: (t) => (t.figures?.peak_bytes ? bytes(t.figures.peak_bytes) : '–')},
      {
        head: 'Predicted peak',
        class: 'r extra',
        cell: (t) => (t.predicted ? bytes(t.predicted.memory.total_bytes) : '–')
      },
      {
        head: 'Agent',
        class: 'tight',
        cell: (t) => t.agent || (t.reused_from ? `reused from ${shortName(t.reused_from)}` : '–')
      },
    ],
    [...trials].sort((a, b) => order(a) - order(b)), {caption: 'Trials, running ones first, then the fastest'});
}

// A failure with its kind, or what a trial waits for.
function why(t) {
  if (isMeasured(t) || !t.reason) return null;
  const fault = word(t.measured?.fault, 'FAULT_');
  return h('div',
    {class: ['TRIAL_STATE_OOM', 'TRIAL_STATE_FAILED', 'TRIAL_STATE_TIMEOUT'].includes(t.state) ? 'bad' : 'muted'},
    fault && h('b', {}, `${fault}: `), t.reason);
}

function showNext(host, plan, sweep) {
  const gain = plan.trials[0]?.expected_gain;
  fill(host, plan.stop_reason && h('p', {}, sentence(plan.stop_reason)),
    gain > 0 &&
      h('p', {}, 'The next trial is expected to save ', h('b', {}, percent(gain, 2)),
        ` of the best step; the sweep ends below ${percent(sweep.min_gain, 1)}.`),
    plan.trials.map(
      (t) => h('p', {}, h('span', {class: 'chip'}, `#${t.number}`), ' ',
        h('span', {class: 'layout-text'}, layoutText(t.layout)), h('br'), h('span', {class: 'muted'}, t.reason))),
    plan.candidates.length > 0 &&
      table(
        [
          {head: '#', class: 'r', cell: (c) => c.number},
          {head: 'Layout', class: 'keys', cell: (c) => h('span', {class: 'layout-text'}, layoutText(c.layout))},
          {head: 'Expected step', class: 'r', cell: (c) => `${seconds(c.step_s)} ± ${percent(c.spread, 0)}`},
          {head: 'Gain', class: 'r', cell: (c) => percent(c.expected_gain, 2)},
        ],
        plan.candidates.filter((c) => !c.state || c.state.endsWith('UNSPECIFIED'))
          .sort((a, b) => b.expected_gain - a.expected_gain || a.number - b.number)
          .slice(0, 6),
        {caption: 'Layouts that may still run'}),
    plan.related_sweeps.length > 0 &&
      h('p', {class: 'hint'},
        `Corrected by ${count(plan.related_results)} results of ${plan.related_sweeps.map(shortName).join(', ')}.`));
}
