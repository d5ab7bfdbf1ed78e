// Plan: the answer to the question, anew on every change.
import {h, fill, template, table} from '../lib/dom.js';
import {call, isAbort, Latest} from '../lib/api.js';
import {bytes, chance, count, percent, seconds, words, big} from '../lib/format.js';
import {questionForm} from '../lib/form.js';
import {change, onQuestion, planRequest, question, questionLink, recommendRequest} from '../lib/question.js';
import {copyLayout, figureTiles, layoutLink, layoutTable, layoutText, pinButton, restsOn} from '../lib/layouts.js';
import {measureButton} from '../lib/measure.js';

export const title = 'Plan';
const SHOWN = 12, MORE = 60;
const RULES = {
  framework: 'framework cannot',
  dominated: 'no better than a simpler one'
};

export function mount(root, {signal}) {
  const {root: page, refs} = template('plan');
  const latest = new Latest();
  let shown = SHOWN;
  root.replaceChildren(page);
  const form = questionForm(refs.question, signal);

  async function ask() {
    const own = form.ownTroubles();
    if (own.length) {
      latest.cancel();
      form.blame(own);
      return showTrouble(refs, {message: ''}, own.map((v) => v.description));
    }
    refs.answer.classList.add('stale');
    try {
      await latest.run(async (abort) => {
        const started = performance.now();
        const answer = await call('Planner/Recommend', recommendRequest({top: shown}), {signal: abort});
        form.blame([]);
        refs.answer.classList.remove('stale');
        showAnswer(refs, answer, performance.now() - started, () => {
          shown = shown === SHOWN ? MORE : SHOWN;
          ask();
        });
        performance.mark('meshwright-answer');
        const fit = await pausedCall('Planner/Fit', fitRequest(), abort);
        refs.said.textContent = refs.verdict.querySelector('.sentence')?.textContent ?? '';
        showFit(refs.fit, fit);
      });
    } catch (error) {
      refs.answer.classList.remove('stale');
      showTrouble(refs, error, form.blame(error.violations ?? []));
    }
  }

  onQuestion((values) => {
    const silent = ['pins', 'layout'];
    if (Object.keys(values).some((name) => !silent.includes(name)) || !Object.keys(values).length) ask();
  }, signal);
  signal.addEventListener('abort', () => latest.cancel());
  ask();
  return {
    update: () => {
      form.show();
      ask();
    }
  };
}

// A slower question waits until the form rests.
async function pausedCall(method, request, signal) {
  await new Promise((resolve) => setTimeout(resolve, 250));
  signal.throwIfAborted();
  try {
    return await call(method, request, {signal});
  } catch (error) {
    if (isAbort(error)) throw error;
    return {problem: error.message};
  }
}

function fitRequest() {
  const {where, offload, max_oom_probability} = recommendRequest();
  return {plan: planRequest(), where, offload, max_oom_probability};
}

function showAnswer(refs, answer, took, more) {
  const best = answer.layouts[0];
  fill(refs.verdict, best ? decision(answer) : nothingFits(answer));
  const {enumerated} = answer.funnel;
  refs.searched.textContent = `of ${count(enumerated)} that were searched in ${seconds(took / 1000)}`;
  fill(refs.table, answer.layouts.length
    ? [layoutTable(answer.layouts, Number(answer.allowed_bytes), {caption: 'Fastest layouts', selected: best.layout}),
       answer.layouts.length >= SHOWN && h('button', {type: 'button', class: 'quiet small', onclick: more},
         answer.layouts.length > SHOWN ? 'Show fewer' : 'Show more')]
    : h('p', {class: 'muted'}, 'No layout of this question fits.'));
  showMine(refs.mine, answer.mine);
  refs.worth.hidden = !answer.worth_a_trial.length;
  fill(refs.worth,
    h('h2', {}, 'Worth a trial ',
      h('small', {}, 'over the memory rule, but faster than all above and more likely to fit than not')),
    layoutTable(answer.worth_a_trial, Number(answer.allowed_bytes),
      {caption: 'Layouts that are worth a trial', ranked: false, first: best}));
  fill(refs.funnel, funnel(answer.funnel, answer.allowed_bytes));
  fill(refs.rests, restsOn(answer));
  fill(refs.fit, h('p', {class: 'muted'}, 'Looking for the largest micro-batch, sequence and model …'));
}

// One sentence that decides.
function decision(answer) {
  const best = answer.layouts[0], {ties} = answer, simplest = ties.simplest[0] ?? best;
  const others = Number(ties.count) - 1;
  const tied = [
    `${count(others)} other ${others === 1 ? 'layout is' : 'layouts are'} within ${percent(ties.within)}, `,
    'closer than the estimate can tell apart; this is the simplest.'
  ];
  return [
    h('p', {class: 'sentence'}, 'Run ', layoutLink(simplest.layout, simplest.options, {}), ': ',
      h('b', {}, `${seconds(simplest.time.step_s)} a step`),
      `, ${percent(simplest.mfu)} MFU, ${bytes(simplest.memory.total_bytes)} of a GPU’s memory. `,
      others > 0 ? tied : 'Nothing else comes close.'),
    h('div', {class: 'actions'},
      h('a', {class: 'button primary', href: questionLink('layout', {layout: simplest.layout})}, 'Look inside and export'),
      measureButton(simplest.layout), copyLayout(simplest.layout), pinButton(simplest.layout),
      h('span', {class: 'muted'}, `${big(answer.parameters)} parameters`)),
    figureTiles(simplest, Number(answer.allowed_bytes)),
    ties.simplest.length > 1 &&
      h('div', {class: 'card'},
        h('h2', {}, 'What ties ', h('small', {}, 'the simplest first; each is faster than those before it')),
        layoutTable(ties.simplest, Number(answer.allowed_bytes),
          {caption: 'Layouts that tie with the fastest', ranked: false, first: best})),
    answer.partial &&
      h('p', {class: 'warn'},
        `The time limit ended the search after ${count(answer.partial.seen)} of ${count(answer.partial.of)} layouts.`),
  ];
}

function nothingFits(answer) {
  const {nearest} = answer;
  if (!nearest) {
    const [rule] = Object.entries(answer.funnel.invalid_by_rule).sort(([, a], [, b]) => b - a)[0] ?? [''];
    return h('div', {class: 'trouble'},
      h('p', {class: 'sentence'}, 'No layout can run: all ', count(answer.funnel.enumerated), ' break a rule',
        rule && `, most often “${words(rule)}”`,
        Number(answer.funnel.left_out) > 0 && `, or do not meet “${question.where}”`, '.'));
  }
  return [
    h('div', {class: 'trouble'},
      h('p', {class: 'sentence'}, h('b', {}, 'Nothing fits.'), ' The nearest layout, ',
        layoutLink(nearest.layout, nearest.options),
        `, needs ${bytes(nearest.memory.total_bytes)} where a GPU may hold ${bytes(answer.allowed_bytes)}: `,
        `${bytes(answer.nearest_over_bytes)} too much, P(OOM) ${chance(nearest.oom_probability)}.`)),
    h('div', {class: 'actions'},
      h('a', {class: 'button primary', href: questionLink('layout', {layout: nearest.layout})}, 'What would make it fit?'),
      h('button', {type: 'button', onclick: () => change({gpus: String(2 * planRequest().gpus)})},
        `Try ${count(2 * planRequest().gpus)} GPUs`),
      !question.offload &&
        h('button', {type: 'button', onclick: () => change({offload: 'act:8,opt,act:8+opt'})}, 'Let layouts offload')),
  ];
}

function showMine(card, mine) {
  card.hidden = !mine;
  if (!mine) return;
  const most = Math.max(...mine.because.map((part) => part.more_s), 1e-9);
  fill(card, h('h2', {}, 'Mine'),
    h('p', {},
      h('a', {class: 'layout-text', href: questionLink('layout', {layout: mine.layout})}, layoutText(mine.layout)), ' '),
    h('p', {}, `${mine.sentence}.`),
    mine.because.length > 0 &&
      h('div', {class: 'bars'},
        mine.because.map(
          (part) => [h('span', {class: 'name'}, words(part.part)),
            h('span', {class: 'track thin'}, h('i', {class: 'k2', style: {width: `${(part.more_s / most) * 100}%`}})),
            h('span', {class: 'figure'}, `+${seconds(part.more_s)}`)])));
}

// Where the points of the search space went, largest first.
function funnel(f, allowed) {
  const total = Number(f.enumerated);
  const rules = Object.entries(f.invalid_by_rule)
                  .map(([rule, n]) => [RULES[rule] ?? words(rule), Number(n), 'k7'])
                  .sort((a, b) => b[1] - a[1]);
  const rows = [
    ...rules,
    ['your condition', Number(f.left_out), 'k3'],
    [`over ${bytes(allowed)}`, Number(f.memory), 'k2'],
    ['estimated and ranked', Number(f.evaluated), 'k4'],
  ].filter(([, n]) => n > 0);
  let before = 0;
  return [
    h('div', {class: 'bars'}, rows.map(([name, n, kind], i) => {
      const left = before / total;
      before += n;
      return [
        h('span', {class: i === rows.length - 1 ? 'name total' : 'name'}, name),
        h('span', {class: 'track thin'},
          h('i', {class: kind, style: {left: `${left * 100}%`, width: `${(n / total) * 100}%`}})),
        h('span', {class: 'figure'}, count(n))
      ];
    }),
      h('span', {class: 'name'}, 'enumerated'),
      h('span', {class: 'track thin'}, h('i', {class: 'k9', style: {width: '100%'}})),
      h('span', {class: 'figure'}, count(total))),
  ];
}

function showFit(host, fit) {
  if (!fit) return;
  if (fit.problem) return void fill(host, h('p', {class: 'muted'}, fit.problem));
  const names = {MICRO_BATCH: 'Micro-batch', SEQ_LEN: 'Sequence', LAYERS: 'Layers'};
  const columns = [
    {head: 'Largest', cell: (l) => names[l.kind.replace('LIMIT_KIND_', '')]},
    {head: 'Asked', class: 'r', cell: (l) => (l.asked ? count(l.asked) : '–')},
    {head: 'Fits up to', class: 'r', cell: (l) => h('b', {}, l.largest ? count(l.largest) : 'nothing')},
    {
      head: 'Then',
      class: 'keys',
      cell: (l) => [l.estimate && h('div', {}, h('span', {class: 'layout-text'}, layoutText(l.estimate.layout))),
        l.over_bytes ? h('span', {class: 'muted'}, `${count(l.next)} is over by ${bytes(l.over_bytes)}`)
                     : l.problem && h('span', {class: 'muted'}, l.problem)]
    },
  ];
  fill(host, table(columns, fit.limits, {caption: 'What would still fit'}));
}

// An error beside the answer that it leaves standing.
function showTrouble(refs, error, others) {
  const login = error.code === 'UNAUTHENTICATED' || error.code === 'LOST';
  const sentences = others.length ? others : error.violations?.length || login ? [] : [error.message];
  fill(refs.verdict,
    sentences.length
      ? h('div', {class: 'trouble'}, sentences.map((s) => h('p', {}, s)))
      : h('div', {class: 'trouble mild'},
          h('p', {},
            login ? error.message
                  : 'The question has a mistake; its field says which. The answer below is the one before.')));
}
