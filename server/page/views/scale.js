// Scale: the best layout by number of devices; days, price and energy of a whole run; the fastest run.
import { h, fill, table } from '../lib/dom.js';
import { stream, Latest } from '../lib/api.js';
import { big, count, digits, parseCount, percent, seconds } from '../lib/format.js';
import { route, settle } from '../lib/route.js';
import { planRequest, question, questionLink, questionParams } from '../lib/question.js';
import { layoutLink, prose, restsOn } from '../lib/layouts.js';
import { legendOf, plot, plotWidth } from '../lib/plot.js';

export const title = 'Scale';
const FIELDS = { low: '', high: '', weak: '', tokens: '', days: '', price: '', critical: '' };

export function mount(root, { signal }) {
  const latest = new Latest(), out = h('div', { class: 'answer' }), gpus = parseCount(question.gpus) || 64;
  const state = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, route.params.get(name) ?? FIELDS[name]]));
  const input = (name, label, placeholder) => h('label', {}, label, h('input', { name, value: state[name], placeholder, spellcheck: 'false' }));
  const form = h('form', { class: 'inline card', oninput: ask, onsubmit: (event) => event.preventDefault() },
    input('low', 'From GPUs', String(Math.max(1, gpus / 8))), input('high', 'To GPUs', String(gpus * 16)),
    input('tokens', 'Tokens of the run', '1T'), input('days', 'Within days', '30'), input('price', 'Price of a GPU-hour', '2.5'), input('critical', 'Critical batch, sequences', 'none'),
    h('label', { class: 'check' }, h('input', { type: 'checkbox', name: 'weak', checked: state.weak }), 'batch grows'));
  fill(root, h('div', { class: 'page' }, h('div', { class: 'bar-row' }, h('h1', {}, `How many GPUs for ${question.model} on ${question.cluster}?`), h('a', { class: 'button', href: questionLink('plan') }, 'Change the question')), form, out));
  out.style.padding = '0';

  async function ask() {
    for (const name of Object.keys(FIELDS)) state[name] = name === 'weak' ? (form.elements.weak.checked ? '1' : '') : form.elements[name].value.trim();
    settle(questionParams(state));
    out.classList.add('stale');
    try {
      await latest.run(async (abort) => {
        const low = parseCount(state.low) || Math.max(1, gpus / 8), high = parseCount(state.high) || gpus * 16, tokens = amount(state.tokens);
        const scale = { plan: planRequest(), gpus_low: low, gpus_high: high, weak: Boolean(state.weak), refine: Boolean(tokens) };
        if (tokens) Object.assign(scale, { tokens, ...(Number(state.days) > 0 && { within_s: state.days * 86400 }), ...(Number(state.price) > 0 && { price_per_h: Number(state.price) }) });
        if (question.where) scale.where = question.where;
        if (question.objective) scale.objective = question.objective;
        const answer = await answerOf({ scale }, 'scale', abort, out);
        out.classList.remove('stale');
        showScale(out, answer, tokens);
        if (tokens && Number(state.critical) > 0) {
          const box = h('div', { class: 'card' }, h('h2', {}, 'The fastest run'));
          out.append(box);
          const body = h('div');
          box.append(body);
          showFastest(body, await answerOf({ fastest: { plan: planRequest(), gpus_low: low, gpus_high: high, tokens, critical_batch: Number(state.critical) } }, 'fastest', abort, body));
        }
      });
    } catch (error) {
      out.classList.remove('stale');
      fill(out, h('div', { class: 'trouble' }, error.message));
    }
  }

  signal.addEventListener('abort', () => latest.cancel());
  ask();
  return { update: () => 'anew' };
}

// '1T', '300B', '15e12' as numbers of tokens.
function amount(text) {
  const match = /^([\d.]+(?:e\d+)?)\s*([kMBT]?)$/.exec(text);
  return match ? match[1] * { '': 1, k: 1e3, M: 1e6, B: 1e9, T: 1e12 }[match[2]] : 0;
}

// Asks with progress, which is shown if the answer takes longer than a moment.
async function answerOf(request, field, signal, host) {
  const bar = h('i'), begun = performance.now();
  for await (const step of stream('Planner/Ask', request, { signal })) {
    if (step[field]) return step[field];
    const { progress } = step;
    if (!progress || performance.now() - begun < 300) continue;
    bar.style.width = `${(progress.done / progress.of) * 100}%`;
    if (!bar.isConnected) host.prepend(h('div', { class: 'progress', role: 'progressbar', 'aria-label': 'Search' }, bar));
  }
  throw new Error('The server ended without an answer.');
}

function showScale(out, answer, tokens) {
  const { points, costs } = answer, fit = points.filter((p) => p.estimate), chosen = answer.answer ?? {};
  const tags = [['fewest_that_fit', 'fewest that fit'], ['fewest_in_time', 'fewest in time'], ['cheapest', 'cheapest'], ['best', 'best']];
  const tagsOf = (i) => tags.filter(([name]) => chosen[name] !== undefined && Number(chosen[name]) === i).map(([, label]) => [h('span', { class: 'chip good' }, label), ' ']);
  const width = plotWidth(fit.some((p) => p.energy?.device_w > 0) ? 3 : 2);
  const curve = (label, unit, value, x = { label: 'GPUs', log: true, format: (n) => count(n) }) => h('div', { class: 'card' }, h('h2', {}, label),
    plot({ label, x: { ...x, low: fit[0]?.gpus / 1.1, high: fit.at(-1)?.gpus * 1.1 }, y: { label: unit, low: 0 }, series: [{ line: 'straight', points: fit.map((p) => ({ x: Number(p.gpus), y: value(p), title: `${count(p.gpus)} GPUs, ${p.estimate.layout}: ${digits(value(p))} ${unit}`, href: questionLink('layout', { gpus: p.gpus, batch: p.global_batch, batch_unit: '', layout: p.estimate.layout }) })) }] }, width));
  fill(out, h('div', { class: 'verdict' }, h('p', { class: 'sentence' }, prose(answer.sentences[0] ?? 'Nothing fits any of these numbers of GPUs.')), h('ul', { class: 'notes' }, answer.sentences.slice(1).map((s) => h('li', {}, prose(s))))),
    fit.length > 1 && h('div', { class: 'columns' }, curve('Throughput of a GPU', 'tokens/s', (p) => p.estimate.tokens_per_s_per_gpu), curve('Exposed communication, bubble and waiting', '% of the step', (p) => 100 * p.exposed),
      fit.some((p) => p.energy?.device_w > 0) && curve('Power of all nodes', 'kW', (p) => p.energy.all_w / 1000)),
    h('div', { class: 'card' }, h('h2', {}, 'By number of GPUs'), table([
      { head: 'GPUs', class: 'r', cell: (p) => count(p.gpus) },
      { head: 'Layout', class: 'keys', cell: (p, i) => (p.estimate ? [layoutLink(p.estimate.layout, p.estimate.options, { gpus: p.gpus, batch: p.global_batch, batch_unit: '' }), h('div', {}, tagsOf(i), p.change && h('span', { class: 'muted' }, p.change))] : h('span', { class: 'muted' }, p.problem)) },
      { head: 'Step', class: 'r', cell: (p) => (p.estimate ? seconds(p.estimate.time.step_s) : '') },
      { head: 'MFU', class: 'r', cell: (p) => (p.estimate ? percent(p.estimate.mfu) : '') },
      { head: 'Tokens/s', class: 'r', cell: (p) => (p.estimate ? count(Math.round(p.estimate.tokens_per_s)) : '') },
      { head: 'Exposed', class: 'r', cell: (p) => (p.estimate ? percent(p.exposed) : '') },
      { head: 'Gain of more', class: 'r', cell: (p) => (p.marginal_return === undefined ? '' : percent(p.marginal_return, 0)) },
      tokens && { head: 'Run', class: 'r', cell: (p, i) => (p.estimate ? seconds(costs[i].seconds) : '') },
      tokens && { head: 'GPU-hours', class: 'r', cell: (p, i) => (p.estimate ? count(Math.round(costs[i].device_hours)) : '') },
      tokens && { head: 'Price', class: 'r', cell: (p, i) => (p.estimate && costs[i].price > 0 ? count(Math.round(costs[i].price)) : '–') },
      { head: tokens ? 'Energy' : 'Power', class: 'r', cell: (p, i) => (!p.estimate ? '' : tokens ? (costs[i].joules > 0 ? `${digits(costs[i].joules / 3.6e9)} MWh` : '–') : p.energy?.all_w > 0 ? `${digits(p.energy.all_w / 1000)} kW` : '–') },
    ].filter(Boolean), points, { caption: 'The best layout by number of GPUs' })),
    h('div', { class: 'card' }, h('h2', {}, 'What this rests on'), restsOn(answer)));
}

function showFastest(host, answer) {
  const names = { STRATEGY_CONTIGUOUS: 'contiguous stages', STRATEGY_STANDARD: 'all standard schedules', STRATEGY_LAYERED: 'layered accumulation' };
  const runs = answer.strategies.map((s) => ({ ...s, points: s.runs.filter((r) => r.seconds > 0) }));
  fill(host, plot({ label: 'Days of the shortest run by number of GPUs', x: { label: 'GPUs', log: true, format: (n) => count(n) }, y: { label: 'days', log: true },
    series: runs.map((s, i) => ({ line: 'straight', second: i % 2 === 1, points: s.points.map((r) => ({ x: Number(r.gpus), y: r.seconds / 86400, title: `${names[s.strategy]}, ${count(r.gpus)} GPUs, batch ${count(r.global_batch)}: ${seconds(r.seconds)}` })) })) }, plotWidth(1)),
  legendOf(runs.map((s, i) => [names[s.strategy], i % 2 ? 'k2' : 'k1'])),
  h('ul', { class: 'notes' }, runs.map((s) => s.shortest !== undefined && h('li', {}, `${names[s.strategy]}: ${seconds(s.runs[s.shortest].seconds)} on ${count(s.runs[s.shortest].gpus)} GPUs with a batch of ${count(s.runs[s.shortest].global_batch)}, ${s.runs[s.shortest].estimate.layout}; ${big(s.runs[s.shortest].network_bytes_per_s, 'B/s')} between nodes suffice`)),
    answer.claims.map((c) => h('li', {}, c.sentence)), answer.notes.map((n) => h('li', {}, n))));
}
