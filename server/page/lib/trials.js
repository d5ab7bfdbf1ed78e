// What views of sweeps and trials share.
import {call} from './api.js';
import {h, toast} from './dom.js';
import {seconds, word} from './format.js';
import {link} from './route.js';

export const shortName = (name) => name.replace(/^sweeps\//, '').replace('/trials/', ' #');

const KINDS = {
  ok: 'good',
  finished: 'good',
  running: 'good live',
  assigned: 'warn',
  pending: '',
  oom: 'bad',
  failed: 'bad',
  timeout: 'bad',
  cancelled: ''
};

export function stateChip(value, prefix) {
  const state = word(value, prefix);
  return h('span', {class: `chip ${KINDS[state] ?? ''}`}, state === 'oom' ? 'out of memory' : state);
}

export const sweepLink = (name) => h('a', {href: link('sweep', {name})}, shortName(name));
export const trialLink = (name, text) => h('a', {href: link('trial', {name})}, text ?? shortName(name));

// All pages of a list, at most `most` items; `each` hears of them as they come.
export async function allPages(method, request, field, {signal, most = Infinity, each = () => {}} = {}) {
  const items = [];
  for (let token = ''; items.length < most;) {
    const page = await call(method, {...request, page_token: token}, {signal});
    items.push(...page[field]);
    each(items);
    if (!(token = page.next_page_token)) break;
  }
  return items;
}

export const isMeasured = (trial) => trial.state === 'TRIAL_STATE_OK' && trial.figures?.step_s > 0;
export const bestOf = (trials) =>
  trials.filter(isMeasured).reduce((best, t) => (!best || t.figures.step_s < best.figures.step_s ? t : best), null);

export const interval = (measured) => (
  measured?.step_interval ? `${seconds(measured.step_interval.low_s)} – ${seconds(measured.step_interval.high_s)}` : '–');

// A button that calls a method, and says what went wrong.
export function actionButton(label, question, work, kind = '') {
  const button = h('button', {
    type: 'button',
    class: kind,
    onclick: async () => {
      if (question && !confirm(question)) return;
      button.disabled = true;
      try {
        await work();
      } catch (error) {
        toast(error.message);
      }
      button.disabled = false;
    }
  },
    label);
  return button;
}
