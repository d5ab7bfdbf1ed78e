// Layout: what fills a device, where the step's time goes, what would make it fit, and how to run it.
import {h, fill, template, copyButton, download} from '../lib/dom.js';
import {call, isAbort, Latest} from '../lib/api.js';
import {bytes, chance, count, percent, seconds} from '../lib/format.js';
import {change, onQuestion, planRequest, question, questionLink, recommendRequest} from '../lib/question.js';
import {copyLayout, figureTiles, layoutLink, layoutText, pinButton, restsOn} from '../lib/layouts.js';
import {memoryByRank, stacked, waterfall} from '../lib/bars.js';
import {measureButton} from '../lib/measure.js';
import {layerTimeline} from '../lib/operators.js';

export const title = 'Layout';

export function mount(root, {signal}) {
  const {root: page, refs} = template('layout');
  const latest = new Latest();
  root.replaceChildren(page);
  measuredForm(refs.measured);
  const writeExport = exporter(refs);

  async function ask() {
    try {
      await latest.run(async (abort) => {
        const layout = question.layout || await simplest(abort);
        if (!layout)
          return fill(refs.verdict,
            h('div', {class: 'empty'}, h('h2', {}, 'No layout to look at'),
              h('p', {}, 'Nothing fits this question. ', h('a', {href: questionLink('plan')}, 'Change it'), '.')));
        const answer = await call('Planner/Estimate', {plan: planRequest(), layout}, {signal: abort});
        show(refs, answer, layout);
        await Promise.all([writeExport(layout, abort), showSchedule(refs, answer.estimate, layout, abort)]);
      });
    } catch (error) {
      fill(refs.verdict,
        h('div', {class: 'trouble'},
          h('p', {class: 'sentence'}, h('span', {class: 'layout-text'}, layoutText(question.layout))),
          h('p', {}, error.message), h('p', {}, h('a', {href: questionLink('plan', {layout: ''})}, 'Back to the plan'))));
    }
  }

  onQuestion((values) => ('measured' in values || 'layout' in values) && ask(), signal);
  signal.addEventListener('abort', () => latest.cancel());
  ask();
  return {update: ask};
}

async function simplest(signal) {
  const {ties} = await call('Planner/Recommend', recommendRequest({top: 1}), {signal});
  return ties.simplest[0]?.layout;
}

function show(refs, answer, layout) {
  const {estimate: e, explanation} = answer, allowed = Number(answer.allowed_bytes),
                      change_ = explanation.smallest_change, sameMesh = explanation.same_mesh_change;
  fill(refs.verdict,
    h('div', {class: 'bar-row actions'}, h('h1', {class: 'layout-text'}, layoutText(e.layout)), copyLayout(e.layout),
      pinButton(e.layout), measureButton(e.layout)),
    h('p', {class: 'sentence'}, h('b', {class: answer.fits ? 'good' : 'bad'}, answer.fits ? 'It fits' : 'It does not fit'),
      answer.fits ? ` with ${bytes(allowed - Number(e.memory.total_bytes))} to spare under the memory rule; `
                  : `: ${bytes(Number(e.memory.total_bytes) - allowed)} over what a GPU may hold; `,
      `a step takes ${seconds(e.time.step_s)}, in 80 % of runs ${seconds(e.step_low_s)} to ${seconds(e.step_high_s)}. `,
      explanation.binding.sentence && `${explanation.binding.sentence}`),
    change_ &&
      h('div', {class: 'trouble mild'},
        h('p', {}, h('b', {}, 'Smallest change that fits: '), layoutLink(change_.layout, change_.options),
          ` needs ${bytes(change_.memory.total_bytes)} and takes ${seconds(change_.time.step_s)} a step `,
          `(of ${count(explanation.neighbours_tried)} that were tried).`),
        sameMesh &&
          h('p', {}, h('b', {}, 'On the same mesh of ranks: '), layoutLink(sameMesh.layout, sameMesh.options),
            ` needs ${bytes(sameMesh.memory.total_bytes)} and takes ${seconds(sameMesh.time.step_s)} a step.`)),
    !answer.fits && !change_ &&
      h('div', {class: 'trouble mild'},
        `None of ${count(explanation.neighbours_tried)} layouts that differ in one or two keys fits.`),
    figureTiles(e, allowed),
    h('p', {class: 'muted'},
      `${question.model} on ${question.gpus} × ${question.cluster}, `,
      `${count(answer.micro_batches)} micro-batches a step, ${count(answer.tokens_per_step)} tokens a step`));
  fill(refs.memory, memoryByRank(explanation.stages, allowed));
  const more = [explanation.experts, explanation.latent_attention, explanation.offload, explanation.other_imbalance]
                 .filter(Boolean)
                 .map((part) => part.sentence);
  fill(refs.step, waterfall(e.time),
    e.step_before_s &&
      h('p', {class: 'hint'},
        `By the formulas alone, without your runs: ${seconds(e.step_before_s)} and ${bytes(e.peak_before_bytes)}.`));
  fill(refs.rests, more.map((sentence) => h('p', {}, sentence)), restsOn(answer));
  refs.measured.dataset.layout = layout;
}

// What one's own run of this layout measured, which corrects every estimate of the question.
function measuredForm(form) {
  const step = h('input', {name: 'step', placeholder: '4.2s', spellcheck: 'false'}),
        memory = h('input', {name: 'memory', placeholder: '61GiB', spellcheck: 'false'});
  fill(form, h('label', {}, 'Time of a step', step), h('label', {}, 'Peak of the fullest GPU', memory),
    h('button', {class: 'primary'}, 'Correct the estimates'),
    h('button', {type: 'button', onclick: () => add('oom')}, 'It ran out of memory'),
    h('p', {class: 'hint message'},
      'One run of your own is worth more than any preset: it corrects every layout of this question.'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const said =
      [step.value && `step=${withUnit(step.value, 's')}`, memory.value && `memory=${withUnit(memory.value, 'GiB')}`]
        .filter(Boolean)
        .join(' ');
    said ? add(said) : step.focus();
  });
  function add(said) {
    const runs = question.measured.split('\n').filter((line) => line && !line.startsWith(`${form.dataset.layout} `));
    change({measured: [...runs, `${form.dataset.layout} ${said}`].join('\n')}, {});
    step.value = memory.value = '';
  }
}

const withUnit = (text, unit) => (/[a-z]/i.test(text) ? text.replaceAll(' ', '') : text.trim() + unit);

const TARGETS = [
  'megatron', 'megatron-bridge', 'torchtitan', 'accelerate', 'deepspeed', 'llamafactory', 'axolotl', 'ms-swift', 'verl',
  'automodel', 'nanotron'
];
const LAUNCHES = ['torchrun', 'srun', 'sbatch'];

// What starts the layout in a framework, to copy or to save. Returns ask(layout, signal).
function exporter(refs) {
  const wish = localStorage.getItem('meshwright-export') ?? '',
        pick = (names, chosen) => h('select', {}, names.map((name) => h('option', {selected: name === chosen}, name)));
  const to = pick(TARGETS, wish.split(' ')[0]), launch = pick(LAUNCHES, wish.split(' ')[1]), said = refs.export_said;
  let last = () => {};
  fill(refs.export_form, h('label', {}, 'Framework', to), h('label', {}, 'Started by', launch));
  refs.export_form.addEventListener('change', () => {
    localStorage.setItem('meshwright-export', `${to.value} ${launch.value}`);
    last();
  });
  return (layout, signal) => (last = async () => {
    try {
      const {text, file_name, notes} =
        await call('Planner/Export', {plan: planRequest(), layout, to: to.value, launch: launch.value}, {signal});
      fill(said,
        h('div', {class: 'bar-row actions tail'}, copyButton(text, 'Copy'),
          h('button', {type: 'button', onclick: () => download(file_name, text)}, `Save ${file_name}`)),
        h('pre', {tabindex: 0, 'aria-label': file_name}, text),
        notes.length > 0 && h('ul', {class: 'notes'}, notes.map((note) => h('li', {}, note))));
    } catch (error) {
      if (!isAbort(error)) fill(said, h('p', {class: 'violation'}, error.message));
    }
  })();
}

// The step in three levels: the operators of a layer, how busy each pipeline rank is, and the picture of all ranks. A
// pipeline of one rank has the first level alone.
async function showSchedule(refs, estimate, layout, signal) {
  refs.timeline.hidden = !/\.pp(?!1\.)\d/.test(estimate.layout);
  try {
    const s = await call('Planner/Schedule', {plan: planRequest(), layout}, {signal});
    refs.layer.hidden = false;
    fill(refs.operators, layerTimeline(s.layer_kinds));
    if (refs.timeline.hidden) return;
    refs.simulated.textContent =
      `${count(s.micro_batches)} micro-batches in ${seconds(s.step_s)}, idle ${percent(s.bubble_share)}`;
    fill(refs.schedule, stacked(s.ranks.map((r) => ({
      name: `rank ${r.pipeline_rank}`,
      figure: `${percent(r.bubble_share)} idle, ${r.chunks_in_flight} in flight`,
      parts: [
        ['before its first', 'k0', r.start_s], ['busy', 'k4', r.busy_s], ['idle', 'k9', r.end_s - r.start_s - r.busy_s],
        ['after its last', 'k0', s.step_s - r.end_s]
      ]
    }))),
      s.svg ? h('div', {class: 'scroll tail'}, h('img', {
        class: 'picture',
        alt: `The step of ${count(s.ranks.length)} pipeline ranks over time`,
        src: `data:image/svg+xml,${encodeURIComponent(s.svg)}`
      }))
            : h('p', {class: 'hint'}, 'The step has too many micro-batches for a picture.'));
  } catch (error) {
    if (isAbort(error)) return;
    refs.layer.hidden = false;
    fill(refs.operators, h('p', {class: 'muted'}, error.message));
    refs.timeline.hidden = true;
  }
}
