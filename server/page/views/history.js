// History: every trial with a result, of all sweeps, and imported runs; its condition, order and columns are the address.
import {call, Latest} from '../lib/api.js';
import {download, fill, h, table} from '../lib/dom.js';
import {age, bytes, count, percent, seconds} from '../lib/format.js';
import {layoutText} from '../lib/layouts.js';
import {link, route, settle} from '../lib/route.js';
import {keysOf} from '../lib/space_data.js';
import {allPages, shortName, stateChip, sweepLink, trialLink} from '../lib/trials.js';

export const title = 'History';
const PAGE = 100, MOST_CSV = 100000;

// Columns: what is shown, and what the CSV has.
const COLUMNS = {
  trial: [
    'Trial', (t) => (t.name ? trialLink(t.name) : h('span', {class: 'muted'}, t.imported?.origin || 'imported')),
    (t) => t.name || t.imported?.origin
  ],
  layout: ['Layout', (t) => h('span', {class: 'layout-text'}, layoutText(t.layout)), (t) => t.layout, 'keys'],
  state: ['State', (t) => stateChip(t.state, 'TRIAL_STATE_'), (t) => t.state.replace('TRIAL_STATE_', '').toLowerCase()],
  step_s: ['Step', (t) => (t.figures?.step_s ? seconds(t.figures.step_s) : '–'), (t) => t.figures?.step_s ?? '', 'r'],
  mfu: ['MFU', (t) => (t.figures?.mfu ? percent(t.figures.mfu) : '–'), (t) => t.figures?.mfu ?? '', 'r'],
  peak: [
    'Peak', (t) => (t.figures?.peak_bytes ? bytes(t.figures.peak_bytes) : '–'), (t) => t.figures?.peak_bytes ?? '', 'r'
  ],
  model: ['Model', (t) => t.model, (t) => t.model],
  cluster: ['Cluster', (t) => t.cluster, (t) => t.cluster],
  gpus: ['GPUs', (t) => count(t.gpus), (t) => t.gpus, 'r'],
  sweep: [
    'Sweep', (t) => (t.name ? sweepLink(t.name.split('/trials/')[0]) : shortName(t.imported?.sweep ?? '')),
    (t) => (t.name || t.imported?.sweep || '').split('/trials/')[0]
  ],
  agent: ['Agent', (t) => t.agent || '–', (t) => t.agent],
  ended: ['Ended', (t) => age(t.end_time ?? t.imported?.import_time), (t) => t.end_time ?? '', 'r'],
};
const DEFAULT = 'trial,layout,state,step_s,mfu,peak,model,cluster,gpus,ended';

export function mount(root, {signal}) {
  const latest = new Latest(), list = h('div', {class: 'card'}), state = {};
  const where =
    h('input', {name: 'where', spellcheck: 'false', placeholder: 'outcome = ok and tp <= 4 and model = "llama-3-8b"'});
  const order = h('select', {name: 'order'}, h('option', {value: 'mfu desc'}, 'highest MFU'),
    h('option', {value: 'step_s'}, 'shortest step'));
  const boxes = h('fieldset', {class: 'tabs'}, h('legend', {class: 'sr'}, 'Columns'),
    Object.entries(COLUMNS).map(
      ([name, [label]]) => h('label', {class: 'check'}, h('input', {type: 'checkbox', name}), label)));
  const wrong = h('p', {class: 'violation message', role: 'alert'});
  const space = h('a', {class: 'button'}, 'Space');
  const form = h('form', {
    class: 'card',
    onsubmit: (event) => event.preventDefault(),
    oninput: () => {
      Object.assign(state, {
        where: where.value.trim(),
        order: order.value,
        cols: [...boxes.querySelectorAll(':checked')].map((box) => box.name).join(',')
      });
      settle({
        where: state.where,
        order: state.order === 'mfu desc' ? '' : state.order,
        cols: state.cols === DEFAULT ? '' : state.cols
      });
      ask();
    }
  },
    h('div', {class: 'inline'}, h('label', {class: 'wide'}, 'Only trials with', where), h('label', {}, 'First', order),
      wrong),
    h('details', {class: 'more'}, h('summary', {}, 'Columns'), boxes));
  fill(root,
    h('div', {class: 'page'},
      h('div', {class: 'bar-row'}, h('h1', {}, 'History'), space,
        h('button', {type: 'button', onclick: () => csv(state)}, 'CSV')),
      form, list));

  function read() {
    const {params} = route;
    Object.assign(state, {
      where: params.get('where') ?? '',
      order: params.get('order') ?? 'mfu desc',
      cols: params.get('cols') ?? DEFAULT
    });
    where.value = state.where;
    order.value = state.order;
    boxes.querySelectorAll('input').forEach((box) => {
      box.checked = state.cols.split(',').includes(box.name);
    });
    ask();
  }

  let shown = PAGE;
  async function ask() {
    space.href = link('space', {from: '-', filter: state.where});
    try {
      await latest.run(async (abort) => {
        let more = '';
        const trials = [];
        do {
          const page =
            await call('Sweeps/ListTrials', {...request(state), page_size: PAGE, page_token: more}, {signal: abort});
          trials.push(...page.trials);
          more = page.next_page_token;
        } while (more && trials.length < shown);
        wrong.textContent = '';
        where.removeAttribute('aria-invalid');
        draw(list, trials, state, more && (() => {
          shown += 5 * PAGE;
          ask();
        }));
      });
    } catch (error) {
      if (error.code === 'LOST') return;
      wrong.textContent = error.message;
      where.setAttribute('aria-invalid', 'true');
    }
  }

  signal.addEventListener('abort', () => latest.cancel());
  read();
  return {update: read};
}

const request = ({where, order}) => ({parent: 'sweeps/-', filter: where, order_by: order, view: 'TRIAL_VIEW_BASIC'});
const columnsOf = (state) => state.cols.split(',').filter((name) => COLUMNS[name]);

function draw(list, trials, state, more) {
  if (!trials.length)
    return fill(list,
      h('div', {class: 'empty'}, h('h2', {}, state.where ? 'No trial meets this condition' : 'Nothing was measured yet'),
        h('p', {}, state.where ? 'Loosen it, or clear it to see all trials.' : [
          'Trials of ', h('a', {href: link('sweeps')}, 'sweeps'), ' come here once they have a result; ',
          h('code', {}, 'meshwright history import'), ' adds runs of yours.'
        ])));
  fill(list,
    table(columnsOf(state).map((name) => {
      const [head, cell, , kind] = COLUMNS[name];
      return {head, cell, class: kind};
    }),
      trials, {caption: 'Trials with a result'}),
    more && h('button', {type: 'button', onclick: more}, 'Show more'),
    h('p', {class: 'hint'}, `${count(trials.length)}${more ? ' of more' : ''} trials`));
}

async function csv(state) {
  const quoted = (value) => (/[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
  const trials = await allPages('Sweeps/ListTrials', {...request(state), page_size: 1000}, 'trials', {most: MOST_CSV});
  const names = columnsOf(state), keys = [...new Set(trials.flatMap((t) => Object.keys(keysOf(t.layout))))];
  const lines = trials.map((t) => {
    const own = keysOf(t.layout);
    return [...names.map((name) => COLUMNS[name][2](t)), ...keys.map((key) => own[key] ?? '')];
  });
  download('history.csv', [[...names, ...keys], ...lines].map((line) => line.map(quoted).join(',')).join('\n') + '\n',
    'text/csv');
}
