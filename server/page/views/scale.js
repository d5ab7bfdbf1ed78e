// Scale: the best layout by number of devices; days, price and energy of a whole run; the fastest run.
import {Latest, stream} from '../lib/api.js';
import {fill, h, table} from '../lib/dom.js';
import {big, count, digits, parseCount, percent, seconds} from '../lib/format.js';
import {layoutLink, prose, restsOn} from '../lib/layouts.js';
import {legendOf, plot, plotWidth} from '../lib/plot.js';
import {planRequest, question, questionLink, questionParams} from '../lib/question.js';
import {route, settle} from '../lib/route.js';

export const title = 'Scale';
const FIELDS = {
  low: '',
  high: '',
  weak: '',
  tokens: '',
  days: '',
  price: '',
  critical: ''
};

export function mount(root, {signal}) {
  const latest = new Latest(), out = h('div', {class: 'answer'}), gpus = parseCount(question.gpus) || 64;
  const state = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, route.params.get(name) ?? FIELDS[name]]));
  const input = (name, label, placeholder) =>
    h('label', {}, label, h('input', {name, value: state[name], placeholder, spellcheck: 'false'}));
  const form = h('form', {class: 'inline card', oninput: ask, onsubmit: (event) => event.preventDefault()},
    input('low', 'From GPUs', String(Math.max(1, gpus / 8))), input('high', 'To GPUs', String(gpus * 16)),
    input('tokens', 'Tokens of the run', '1T'), input('days', 'Within days', '30'),
    input('price', 'Price of a GPU-hour', '2.5'), input('critical', 'Critical batch, sequences', 'none'),
    h('label', {class: 'check'}, h('input', {type: 'checkbox', name: 'weak', checked: state.weak}), 'batch grows'));
  fill(root,
    h('div', {class: 'page'},
      h('div', {class: 'bar-row'}, h('h1', {}, `How many GPUs for ${question.model} on ${question.cluster}?`),
        h('a', {class: 'button', href: questionLink('plan')}, 'Change the question')),
      form, out));
  out.style.padding = '0';

  async function ask() {
    for (const name of Object.keys(FIELDS))
      state[name] = name === 'weak' ? (form.elements.weak.checked ? '1' : '') : form.elements[name].value.trim();
    settle(questionParams(state));
    out.classList.add('stale');
    try {
      await latest.run(async (abort) => {
        const low = parseCount(state.low) || Math.max(1, gpus / 8), high = parseCount(state.high) || gpus * 16,
              tokens = amount(state.tokens);
        const scale =
          {plan: planRequest(), gpus_low: low, gpus_high: high, weak: Boolean(state.weak), refine: Boolean(tokens)};
        if (tokens)
          Object.assign(scale, {
            tokens,
            ...(Number(state.days) > 0 && {within_s: state.days * 86400}),
            ...(Number(state.price) > 0 && {price_per_h: Number(state.price)})
          });
        if (question.where) scale.where = question.where;
        if (question.objective) scale.objective = question.objective;
        const answer = await answerOf({scale}, 'scale', abort, out);
        out.classList.remove('stale');
        showScale(out, answer, tokens);
        if (tokens && Number(state.critical) > 0) {
          const box = h('div', {class: 'card'}, h('h2', {}, 'The fastest run'));
          out.append(box);
          const body = h('div');
          box.append(body);
          showFastest(body,
            await answerOf({
              fastest:
                {plan: planRequest(), gpus_low: low, gpus_high: high, tokens, critical_batch: Number(state.critical)}
            },
              'fastest', abort, body));
        }
      });
    } catch (error) {
      out.classList.remove('stale');
      fill(out, h('div', {class: 'trouble'}, error.message));
    }
  }

  signal.addEventListener('abort', () => latest.cancel());
  ask();
  return {update: () => 'anew'};
}

// '1T', '300B', '15e12' as numbers of tokens.
function amount(text) {
  const match = /^([\d.]+(?:e\d+)?)\s*([kMBT]?)$/.exec(text);
  return match ? match[1] * {'': 1, k: 1e3, M: 1e6, B: 1e9, T: 1e12}[match[2]] : 0;
}

// Asks with progress, which is shown if the answer takes longer than a moment.
async function answerOf(request, field, signal, host) {
  const bar = h('i'), begun = performance.now();
  for await (const step of stream('Planner/Ask', request, {signal})) {
    if (step[field]) return step[field];
    const {progress} = step;
    if (!progress || performance.now() - begun < 300) continue;
    bar.style.width = `${(progress.done / progress.of) * 100}%`;
    if (!bar.isConnected) host.prepend(h('div', {class: 'progress', role: 'progressbar', 'aria-label': 'Search'}, bar));
  }
  throw new Error('The server ended without an answer.');
}

const TAGS = {fewest_that_fit: 'fewest that fit', fewest_in_time: 'fewest in time', cheapest: 'cheapest', best: 'best'};
const ofPoint = (p) => ({gpus: p.gpus, batch: p.global_batch, batch_unit: ''});

function showScale(out, answer, tokens) {
  const fit = answer.points.filter((p) => p.estimate), power = fit.some((p) => p.energy?.device_w > 0);
  const [first = 'Nothing fits any of these numbers of GPUs.', ...others] = answer.sentences;
  const curve = (title, unit, value) =>
    h('div', {class: 'card'}, h('h2', {}, title), curveOf(fit, title, unit, value, power ? 3 : 2));
  fill(out,
    h('div', {class: 'verdict'}, h('p', {class: 'sentence'}, prose(first)),
      h('ul', {class: 'notes'}, others.map((sentence) => h('li', {}, prose(sentence))))),
    fit.length > 1 && h('div', {class: 'columns thirds'},
      curve('Throughput of a GPU', 'tokens/s', (p) => p.estimate.tokens_per_s_per_gpu),
      curve('Exposed communication, bubble and waiting', '% of the step', (p) => 100 * p.exposed),
      power && curve('Power of all nodes', 'kW', (p) => p.energy.all_w / 1000)),
    h('div', {class: 'card'}, h('h2', {}, 'By number of GPUs'), pointTable(answer, tokens)),
    h('div', {class: 'card'}, h('h2', {}, 'What this rests on'), restsOn(answer)));
}

function curveOf(points, label, unit, value, columns) {
  const ends = {low: points[0].gpus / 1.1, high: points.at(-1).gpus * 1.1};
  return plot({
    label, x: {label: 'GPUs', log: true, ...ends}, y: {label: unit, low: 0},
    series: [{line: 'straight', points: points.map((p) => ({
      x: Number(p.gpus), y: value(p), title: `${count(p.gpus)} GPUs, ${p.estimate.layout}: ${digits(value(p))} ${unit}`,
      href: questionLink('layout', {...ofPoint(p), layout: p.estimate.layout}),
    }))}],
  }, plotWidth(columns));
}

function pointTable({points, costs, answer = {}}, tokens) {
  const tagsOf = (i) => Object.keys(TAGS).filter((name) => answer[name] !== undefined && Number(answer[name]) === i)
    .map((name) => [h('span', {class: 'chip good'}, TAGS[name]), ' ']);
  const layout = (p, i) => (p.estimate
    ? [layoutLink(p.estimate.layout, p.estimate.options, ofPoint(p)),
       h('div', {}, tagsOf(i), p.change && h('span', {class: 'muted'}, p.change))]
    : h('span', {class: 'muted'}, p.problem));
  const column = (head, cell) => ({head, class: 'r', cell: (p, i) => (p.estimate ? cell(p, costs[i]) : '')});
  const some = (value, text) => (value > 0 ? text : '–');
  return table([
    {head: 'GPUs', class: 'r', cell: (p) => count(p.gpus)},
    {head: 'Layout', class: 'keys', cell: layout},
    column('Step', (p) => seconds(p.estimate.time.step_s)),
    column('MFU', (p) => percent(p.estimate.mfu)),
    column('Tokens/s', (p) => count(Math.round(p.estimate.tokens_per_s))),
    column('Exposed', (p) => percent(p.exposed)),
    column('Gain of more', (p) => (p.marginal_return === undefined ? '' : percent(p.marginal_return, 0))),
    ...(tokens ? [
      column('Run', (p, cost) => seconds(cost.seconds)),
      column('GPU-hours', (p, cost) => count(Math.round(cost.device_hours))),
      column('Price', (p, cost) => some(cost.price, count(Math.round(cost.price)))),
      column('Energy', (p, cost) => some(cost.joules, `${digits(cost.joules / 3.6e9)} MWh`)),
    ] : [column('Power', (p) => some(p.energy?.all_w, `${digits(p.energy?.all_w / 1000)} kW`))]),
  ], points, {caption: 'The best layout by number of GPUs'});
}

function showFastest(host, answer) {
  const names = {
    STRATEGY_CONTIGUOUS: 'contiguous stages',
    STRATEGY_STANDARD: 'all standard schedules',
    STRATEGY_LAYERED: 'layered accumulation'
  };
  const runs = answer.strategies.map((s) => ({...s, points: s.runs.filter((r) => r.seconds > 0)}));
  fill(host,
    plot(
      {
        label: 'Days of the shortest run by number of GPUs',
        x: {label: 'GPUs', log: true, format: (n) => count(n)},
        y: {label: 'days', log: true},
        series: runs.map((s, i) => ({
          line: 'straight',
          second: i % 2 === 1,
          points: s.points.map((r) => ({
            x: Number(r.gpus),
            y: r.seconds / 86400,
            title: `${names[s.strategy]}, ${count(r.gpus)} GPUs, batch ${count(r.global_batch)}: ${seconds(r.seconds)}`
          }))
        }))
      },
      plotWidth(1)),
    legendOf(runs.map((s, i) => [names[s.strategy], i % 2 ? 'k2' : 'k1'])),
    h('ul', {class: 'notes'},
      runs.filter((s) => s.shortest !== undefined).map((s) => [names[s.strategy], s.runs[s.shortest]]).map(
        ([name, r]) => h('li', {},
          `${name}: ${seconds(r.seconds)} on ${count(r.gpus)} GPUs with a batch of ${count(r.global_batch)}, `,
          prose(r.estimate.layout), `; ${big(r.network_bytes_per_s, 'B/s')} between nodes suffice`)),
      answer.claims.map((c) => h('li', {}, c.sentence)), answer.notes.map((n) => h('li', {}, n))));
}
