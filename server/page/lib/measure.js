// "Measure it": starts a sweep of one layout, for those who may.
import {call} from './api.js';
import {h, toast} from './dom.js';
import {planRequest} from './question.js';
import {go} from './route.js';

let role = 'operator';
export const mayOperate = () => role === 'operator';
export function useRole(name) { role = name; }

export function measureButton(layout) {
  if (!mayOperate()) return null;
  return h('button', {
    type: 'button',
    title: 'Starts a sweep that runs this layout on an agent',
    onclick: () => startSweep({layouts: [layout], trials: 0}),
  },
    'Measure it');
}

export async function startSweep(more) {
  try {
    const sweep = await call('Sweeps/CreateSweep', {plan: planRequest(), request_id: crypto.randomUUID(), ...more});
    go('sweep', {name: sweep.name});
  } catch (error) {
    toast(error.message);
  }
}
