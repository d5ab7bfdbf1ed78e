// Layouts and trials as points: keys of the layout and figures, whatever they come from.
import {call} from './api.js';
import {questionLink, recommendRequest} from './question.js';
import {link} from './route.js';
import {allPages} from './trials.js';

const known = new Map();

// The keys of a layout's text: {tp: 4, rc: 'none', …}.
export function keysOf(text) {
  if (known.has(text)) return known.get(text);
  const keys = {};
  known.set(text, keys);
  for (const part of text.split('.')) {
    const [, name, value] = /^([a-z_]+)=(.*)$/.exec(part) ?? /^([a-z]+)(\d+)$/.exec(part) ?? [null, part, ''];
    keys[name] = /^\d+$/.test(value) ? Number(value) : value;
  }
  return keys;
}

export const FIGURES = {
  step_s: {label: 'step, s', less: true},
  mfu: {label: 'MFU, %', less: false},
  memory: {label: 'memory, GiB', less: true},
  tokens: {label: 'tokens/s/GPU', less: false},
  oom: {label: 'P(OOM), %', less: true},
};
const MOST_SEARCHED = 1000, MOST_TRIALS = 10000;

const OUTCOMES = {
  TRIAL_STATE_OK: 'ok',
  TRIAL_STATE_OOM: 'out of memory',
  TRIAL_STATE_FAILED: 'failed',
  TRIAL_STATE_TIMEOUT: 'failed'
};

// The points of a source: '' is the search of the question, 'sweeps/NAME' a sweep, '-' all sweeps.
export async function points(from, filter, signal, each = () => {}) {
  if (!from) {
    const {layouts, funnel} = await call('Planner/Recommend', recommendRequest({top: MOST_SEARCHED}), {signal});
    return {rows: layouts.map(ofEstimate), total: Number(funnel.evaluated)};
  }
  const request = {parent: from === '-' ? 'sweeps/-' : from, filter, page_size: 1000, view: 'TRIAL_VIEW_BASIC'};
  const rows = [];
  let read = 0;
  await allPages('Sweeps/ListTrials', request, 'trials', {
    signal,
    most: MOST_TRIALS,
    each: (trials) => {
      rows.push(...trials.slice(read).map(ofTrial).filter((row) => row.outcome));
      read = trials.length;
      each(read);
    }
  });
  return {rows, total: rows.length};
}

const ofEstimate = (e) => ({
  layout: e.layout,
  outcome: 'ok',
  href: questionLink('layout', {layout: e.layout}),
  ...keysOf(e.layout),
  step_s: e.time.step_s,
  mfu: 100 * e.mfu,
  memory: Number(e.memory.total_bytes) / 2 ** 30,
  tokens: e.tokens_per_s_per_gpu,
  oom: 100 * e.oom_probability,
});

const ofTrial = (t) => ({
  layout: t.layout,
  outcome: OUTCOMES[t.state],
  href: t.name ? link('trial', {name: t.name}) : null,
  ...keysOf(t.layout),
  gpus: Number(t.gpus),
  model: t.model,
  step_s: t.figures?.step_s,
  mfu: t.figures?.mfu && 100 * t.figures.mfu,
  memory: t.figures?.peak_bytes && Number(t.figures.peak_bytes) / 2 ** 30,
});

// Keys and figures that have more than one value among the points, keys first.
export function variedNames(rows) {
  const values = new Map();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (['layout', 'outcome', 'href'].includes(name) || value === undefined) continue;
      if (!values.has(name)) values.set(name, new Set());
      values.get(name).add(value);
    }
  }
  const varied = [...values].filter(([, set]) => set.size > 1).map(([name]) => name);
  return [...varied.filter((name) => !FIGURES[name]), ...Object.keys(FIGURES).filter((name) => varied.includes(name))];
}

// The points that no other point beats in both figures.
export function front(rows, a, b) {
  const sign = (name) => (FIGURES[name]?.less === false ? -1 : 1);
  const sorted = rows.filter((r) => Number.isFinite(r[a]) && Number.isFinite(r[b]))
                   .sort((p, q) => sign(a) * (p[a] - q[a]) || sign(b) * (p[b] - q[b]));
  let best = Infinity;
  return sorted.filter((r) => sign(b) * r[b] < best && ((best = sign(b) * r[b]), true));
}
