// Compare: up to four pinned layouts part by part, or the trials of two sweeps.
import {call, Latest} from '../lib/api.js';
import {fill, h, table} from '../lib/dom.js';
import {bytes, chance, count, digits, percent, seconds, words} from '../lib/format.js';
import {layoutLink, layoutText, MEMORY_PARTS, prose, restsOn, TIME_PARTS} from '../lib/layouts.js';
import {change, MOST_PINS, onQuestion, pins, planRequest, questionLink, questionParams} from '../lib/question.js';
import {link, route, settle} from '../lib/route.js';
import {keysOf} from '../lib/space_data.js';
import {allPages, bestOf, interval, isMeasured, shortName, trialLink} from '../lib/trials.js';

export const title = 'Compare';

export function mount(root, {signal}) {
  const page = h('div', {class: 'page'}), latest = new Latest();
  fill(root, page);
  const ask = () => {
    const names = (route.params.get('sweeps') ?? '').split(',').filter(Boolean);
    latest.run((abort) => (names.length ? compareSweeps(page, names, abort) : compareLayouts(page, abort)))
      .catch((error) => fill(page, h('h1', {}, 'Compare'), h('div', {class: 'trouble'}, error.message), chosen()));
  };
  onQuestion(ask, signal);
  signal.addEventListener('abort', () => latest.cancel());
  ask();
  return {update: ask};
}

// The pinned layouts, each with a button that takes its pin away, and a field for another one.
function chosen() {
  const other = h('input', {name: 'layout', placeholder: 'tp8.pp1.dp8.mb1.zero1.sp1', spellcheck: 'false'});
  return h('form', {
    class: 'inline card',
    onsubmit: (event) => {
      event.preventDefault();
      if (other.value.trim()) change({pins: [...pins(), other.value.trim()].slice(-MOST_PINS).join('~')});
    }
  },
    h('label', {}, 'Another layout', other), h('button', {}, 'Add'),
    h('a', {class: 'button', href: link('compare', {sweeps: '-'})}, 'Compare two sweeps'));
}

async function compareLayouts(page, signal) {
  const layouts = pins();
  if (!layouts.length) {
    return fill(page, h('h1', {}, 'Compare'),
      h('div', {class: 'card empty'}, h('h2', {}, 'Nothing is pinned'),
        h('p', {}, `Pin up to ${MOST_PINS} layouts in `, h('a', {href: questionLink('plan')}, 'Plan'),
          ', or write one here.')),
      chosen());
  }
  const answer = await call('Planner/Compare', {plan: planRequest(), layouts}, {signal});
  const equal = h('input', {type: 'checkbox', onchange: () => draw()}), host = h('div');
  const draw = () => fill(host, layoutRows(answer, equal.checked));
  draw();
  fill(page, h('h1', {}, 'Compare'), h('div', {class: 'verdict'}, h('p', {class: 'sentence'}, prose(answer.sentence))),
    h('div', {class: 'card'},
      h('h2', {}, 'Part by part ', h('small', {}, `steps within ${percent(answer.within)} tie; bold: more`)),
      h('label', {class: 'check'}, equal, 'Show equal rows'), host),
    chosen(), h('div', {class: 'card'}, h('h2', {}, 'What this rests on'), restsOn(answer)));
}

function layoutRows(answer, all) {
  const list = answer.layouts, keys = list.map((l) => keysOf(l.layout)), e = (l) => l.estimate;
  const names = [...new Set(keys.flatMap((k) => Object.keys(k)))];
  const row = (name, values, format = (v) => v, less = null) => ({name, values, format, less});
  const rows = [
    ...names.map((key) => row(key, keys.map((k) => k[key] ?? '–'))),
    row('place', list.map((l) => (l.place > 0 ? Number(l.place) : null)), (v) => `#${v}`, true),
    row('step', list.map((l) => e(l)?.time.step_s), seconds, true),
    row('MFU', list.map((l) => e(l)?.mfu), percent, false),
    row('tokens/s/GPU', list.map((l) => e(l)?.tokens_per_s_per_gpu), (v) => count(Math.round(v)), false),
    row('memory', list.map((l) => e(l) && Number(e(l).memory.total_bytes)), bytes, true),
    row('P(OOM)', list.map((l) => e(l)?.oom_probability), chance, true),
    ...TIME_PARTS.map(([part, name]) => row(`time: ${name}`, list.map((l) => e(l)?.time[`${part}_s`]), seconds, true)),
    ...MEMORY_PARTS.map(
      ([part]) => row(`memory: ${part}`, list.map((l) => e(l) && Number(e(l).memory[`${part}_bytes`])), bytes, true)),
  ].filter((r) => all || new Set(r.values.map(String)).size > 1 || list.length === 1);
  const differs = (r) => {
    const known = r.values.filter(Number.isFinite);
    return r.less === null || r.name === 'place' ? false : Math.max(...known) > Math.min(...known) * (1 + answer.within);
  };
  const cell = (r, i) => {
    const value = r.values[i], known = r.values.filter(Number.isFinite),
          best = r.less ? Math.min(...known) : Math.max(...known);
    return h('td', {class: `r ${differs(r) ? 'differs' : ''} ${differs(r) && value === best ? 'best' : ''}`},
      value === null || value === undefined ? '–' : r.format(value));
  };
  return table(
    [
      {head: 'What', cell: (r) => h('th', {scope: 'row'}, r.name)},
      ...list.map((l, i) => ({
        head: [
          h('a', {class: 'layout-text', href: questionLink('layout', {layout: l.layout})}, layoutText(l.layout)),
          l.rule && h('div', {class: 'bad'}, `cannot run: ${words(l.rule)}`),
          h('div', {},
            h('button', {type: 'button', onclick: () => change({pins: pins().filter((_, p) => p !== i).join('~')})}, 'unpin'))
        ],
        class: 'r compared',
        cell: (r) => cell(r, i)
      })),
    ],
    rows, {caption: 'Layouts part by part', cards: false});
}

async function compareSweeps(page, names, signal) {
  const sweeps = await allPages('Sweeps/ListSweeps', {page_size: 200}, 'sweeps', {signal, most: 200});
  const [before, after] = [names[0] === '-' ? '' : names[0], names[1] ?? ''];
  const pick = (label, value, name) => h('label', {}, label,
    h('select', {
      onchange: (event) => {
        const next = {before, after, [name]: event.target.value};
        settle(questionParams({sweeps: [next.before || '-', next.after].filter(Boolean).join(',')}));
        compareSweeps(page, [next.before || '-', next.after].filter(Boolean), signal);
      }
    },
      h('option', {value: ''}, '–'),
      sweeps.map((s) => h('option', {value: s.name, selected: s.name === value}, shortName(s.name)))));
  fill(page,
    h('div', {class: 'bar-row'}, h('h1', {}, 'Compare two sweeps'),
      h('a', {class: 'button', href: questionLink('compare')}, 'Compare layouts')),
    h('form', {class: 'inline card'}, pick('Before', before, 'before'), pick('After', after, 'after')));
  if (!before || !after)
    return page.append(h(
      'div', {class: 'card empty'}, sweeps.length > 1 ? 'Choose two sweeps.' : 'There are not two sweeps to compare.'));
  const [a, b] = await Promise.all(
    [before, after].map((parent) => allPages('Sweeps/ListTrials', {parent, page_size: 200}, 'trials', {signal})));
  const rows = a.flatMap((t) => b.filter((u) => u.layout === t.layout).map((u) => [t, u]));
  const [bestA, bestB] = [bestOf(a), bestOf(b)];
  const verdict = bestA && bestB
    ? [`The best step went from ${seconds(bestA.figures.step_s)} to `, h('b', {}, seconds(bestB.figures.step_s)),
       `, ${ratio(bestB, bestA)}.`]
    : 'One of the two has no measured trial yet.';
  page.append(h('div', {class: 'verdict'}, h('p', {class: 'sentence'}, verdict)),
    h('div', {class: 'card'},
      h('h2', {}, 'Layouts that ran in both ',
        h('small', {}, 'bold where the 95 % intervals of the medians do not overlap')),
      rows.length ? bothTable(rows, before, after) : h('p', {class: 'muted'}, 'No layout ran in both.')));
}

function bothTable(rows, before, after) {
  const change = ([t, u]) => {
    if (!isMeasured(t) || !isMeasured(u)) return '–';
    return told(t, u) ? h('b', {class: u.figures.step_s < t.figures.step_s ? 'good' : 'bad'}, ratio(u, t)) : ratio(u, t);
  };
  return table([
    {head: 'Layout', class: 'keys', cell: ([t]) => layoutLink(t.layout)},
    {head: shortName(before), class: 'r', cell: ([t]) => figure(t)},
    {head: '95 % interval', class: 'r', cell: ([t]) => interval(t.measured)},
    {head: shortName(after), class: 'r', cell: ([, u]) => figure(u)},
    {head: '95 % interval', class: 'r', cell: ([, u]) => interval(u.measured)},
    {head: 'Change', class: 'r', cell: change},
  ], rows, {caption: 'Layouts that ran in both sweeps'});
}

const figure = (t) =>
  trialLink(t.name, isMeasured(t) ? seconds(t.figures.step_s) : t.state.replace('TRIAL_STATE_', '').toLowerCase());

function ratio(u, t) {
  const more = u.figures.step_s / t.figures.step_s - 1;
  return `${more <= 0 ? '−' : '+'}${digits(100 * Math.abs(more), 2)} %`;
}

// Whether two measured medians are told apart by their intervals.
function told(t, u) {
  const [a, b] = [t.measured?.step_interval, u.measured?.step_interval];
  return Boolean(a && b && (a.low_s > b.high_s || b.low_s > a.high_s));
}
