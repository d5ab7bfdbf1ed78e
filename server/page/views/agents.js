// Agents: who runs what, and who gets no trials and why.
import {call} from '../lib/api.js';
import {fill, h, table} from '../lib/dom.js';
import {age, bytes, word} from '../lib/format.js';
import {mayOperate} from '../lib/measure.js';
import {actionButton, allPages, sweepLink, trialLink} from '../lib/trials.js';
import {poll} from '../lib/watch.js';

export const title = 'Agents';
const PERIOD_MS = 2000;

export function mount(root, {signal}) {
  const list = h('div', {class: 'card'}), waiting = h('div', {class: 'card'});
  fill(root, h('div', {class: 'page'}, h('h1', {}, 'Agents'), list, waiting));
  let refresh = () => {};
  async function work() {
    try {
      const [{agents, server_version, server_time}, sweeps] = await Promise.all([
        call('Agents/ListAgents', {}, {signal}),
        allPages('Sweeps/ListSweeps', {page_size: 100}, 'sweeps', {signal, most: 100})
      ]);
      fill(list, agents.length ? agentTable(agents, Date.parse(server_time), refresh) : empty(),
        h('p', {class: 'hint'},
          `Server ${server_version}. An agent whose heartbeats stay out for the length of its lease is lost: `,
          'its trials go to others, and it stays in this list for a day, unless it comes back.'));
      const live = sweeps.filter((s) => ['SWEEP_STATE_PENDING', 'SWEEP_STATE_RUNNING'].includes(s.state));
      fill(waiting, h('h2', {}, 'Sweeps that are not done'),
        live.length
          ? table(
              [
                {head: 'Sweep', cell: (s) => sweepLink(s.name)},
                {head: 'Devices', class: 'r', cell: (s) => `${s.gpus} ${word(s.device_kind, 'DEVICE_KIND_')}`},
                {head: 'Trials', class: 'r', cell: (s) => `${s.trials_ended} of ${s.max_trials || s.trials}`},
                {head: 'What it waits for', class: 'keys', cell: (s) => s.reason || '–'},
              ],
              live, {caption: 'Sweeps that are not done'})
          : h('p', {class: 'muted'}, 'None: every agent is free for the next sweep.'));
    } catch (error) {
      if (!signal.aborted && error.code !== 'LOST') fill(list, h('div', {class: 'trouble'}, error.message));
    }
  }
  refresh = poll(work, PERIOD_MS, signal);
  return {update: refresh};
}

function agentTable(agents, now, refresh) {
  const devices = (a) => `${a.device_set.devices} ${word(a.device_set.device_kind, 'DEVICE_KIND_')}`;
  const runs = (a) => [a.running, ...a.running_beside].filter(Boolean);
  const isLost = (a) => a.state === 'AGENT_STATE_LOST';
  const act = (label, method, a) => actionButton(label, null, async () => {
    await call(`Agents/${method}`, {name: a.name});
    refresh();
  }, 'small');
  return table(
    [
      {head: 'Agent', class: 'keys', cell: (a) => [h('b', {}, a.name), h('div', {class: 'muted'}, a.host)]},
      {
        head: 'Devices',
        class: 'tight',
        cell: (a) => [devices(a),
          Number(a.device_set.memory_bytes) > 0 && h('div', {class: 'muted'}, `${bytes(a.device_set.memory_bytes)} each`)]
      },
      {head: 'Slots', class: 'r', cell: (a) => (isLost(a) ? '–' : `${runs(a).length} of ${a.slots || 1}`)},
      {
        head: 'Runs',
        cell: (a) =>
          (runs(a).length ? runs(a).map((ref) => h('div', {}, trialLink(ref.trial),
                                          h('span', {class: 'muted'}, ref.attempt > 1 && ` attempt ${ref.attempt}`)))
                          : h('span', {class: 'muted'}, 'nothing'))
      },
      {
        head: 'State',
        cell: (a) => [isLost(a)         ? h('span', {class: 'chip bad'}, 'lost')
            : a.set_aside_reason ? h('span', {class: 'chip bad'}, 'set aside')
            : a.drained                  ? h('span', {class: 'chip warn'}, 'drained')
            : runs(a).length             ? h('span', {class: 'chip good live'}, 'busy')
                                         : h('span', {class: 'chip good'}, 'free'),
          isLost(a) && h('div', {class: 'muted'}, `last heard ${age(a.last_heard_time, now)}`),
          a.set_aside_reason && h('div', {class: 'bad'}, a.set_aside_reason),
          a.failures_in_a_row > 0 && h('div', {class: 'warn'}, `${a.failures_in_a_row} failures in a row`)]
      },
      {head: 'Runners', cell: (a) => a.runners.map((r) => r.name).join(', ') || '–'},
      {head: 'Connected', class: 'r', cell: (a) => (isLost(a) ? '–' : age(a.connect_time, now))},
      {head: 'Version', cell: (a) => a.version},
      mayOperate() &&
        {
          head: h('span', {class: 'sr'}, 'Actions'),
          cell: (a) => (a.drained || a.set_aside_reason ? act('Resume', 'ResumeAgent', a) : act('Drain', 'DrainAgent', a))
        },
    ].filter(Boolean),
    agents, {caption: 'Agents'});
}

const empty = () => h('div', {class: 'empty'}, h('h2', {}, 'No agent is connected'),
  h('p', {}, 'An agent owns devices and runs trials on them. Start one on each machine:'),
  h('pre', {}, 'meshwright agent --server HOST:PORT --devices cuda'));
