// The question that all planning views share: what is trained, on what, and what is asked. Each value is a text, as it
// stands in the form and in the address.
import {parseCount} from './format.js';
import {link, pack, route, settle, unpack} from './route.js';

const DEFAULTS = {
  model: 'llama-3-8b',
  cluster: 'h100',
  framework: 'megatron',
  gpus: '64',
  seq: '8192',
  batch: '256'
};
const OPTIONS = ['states', 'loss', 'documents', 'compile', 'cuda_graphs', 'dispatcher', 'experts', 'train'];
const OTHERS = [
  'batch_unit', 'dtype', 'optimizer', 'objective', 'where', 'offload', 'search', 'imbalance', 'oom', 'mine', 'measured',
  'config', 'layout', 'pins'
];
const NAMES = [...Object.keys(DEFAULTS), ...OPTIONS, ...OTHERS];
const STORE = 'meshwright-question';

// `config_json` is the text of `config`, which the address carries deflated.
export const question = {
  ...DEFAULTS,
  config_json: ''
};

export const MOST_PINS = 4;
export const pins = () => (question.pins ? question.pins.split('~') : []);

const clear = () => NAMES.forEach((name) => {
  question[name] = DEFAULTS[name] ?? '';
});

export function resetQuestion() {
  clear();
  question.config_json = '';
  keep();
}

// Takes the question from the address; one without any keeps the question of this tab.
export async function readQuestion() {
  const said = NAMES.some((name) => route.params.has(name)) ? route.params
                                                            : new URLSearchParams(sessionStorage.getItem(STORE) ?? '');
  const packed = question.config;
  clear();
  for (const name of NAMES)
    if (said.has(name)) question[name] = said.get(name);
  if (!question.config)
    question.config_json = '';
  else if (question.config !== packed || !question.config_json)
    question.config_json = await unpack(question.config).catch(() => '');
  keep();
}

// What the address says of the question, and what a view adds.
export function questionParams(more = {}) {
  const said = Object.fromEntries(NAMES.map((name) => [name, question[name]]));
  if (said.framework === DEFAULTS.framework) said.framework = '';
  return {...said, ...more};
}

export const questionLink = (view, more) => link(view, questionParams(more));

function keep() { sessionStorage.setItem(STORE, link('', questionParams()).slice(2)); }

// Changes values of the question, and says so to the address and to whoever listens with onQuestion().
export function change(values, more = {}) {
  Object.assign(question, values);
  keep();
  settle(questionParams(more));
  document.dispatchEvent(new CustomEvent('question', {detail: values}));
}

export function onQuestion(listener, signal) {
  document.addEventListener('question', ({detail}) => listener(detail), {signal});
}

export function togglePin(layout) {
  const list = pins();
  change({
    pins: (list.includes(layout) ? list.filter((pin) => pin !== layout) : [...list, layout].slice(-MOST_PINS)).join('~')
  });
}

export async function useConfig(name, text) {
  JSON.parse(text);
  question.config_json = text;
  change({config: await pack(text), model: name});
}

// The parts of a cluster in words: NAME[:DEVICES[xNODES]][,ib=RATE|,eth=RATE][,link=RATE][,pairs=RATE][,ram=SIZE].
export function clusterParts(text) {
  const [head, ...words] = text.split(',');
  const [, name, devices, nodes] = /^([^:]*)(?::(\d*)(?:x(\d*))?)?/.exec(head);
  const parts = {name, devices: devices ?? '', nodes: nodes ?? '', net: '', rate: '', link: '', pairs: '', ram: ''};
  for (const word of words) {
    const [key, value] = word.split('=');
    if (key === 'ib' || key === 'eth')
      Object.assign(parts, {net: key, rate: value ?? ''});
    else if (key in parts)
      parts[key] = value ?? '';
  }
  return parts;
}

export function clusterText({name, devices, nodes, net, rate, link: wire, pairs, ram}) {
  const words = [name + (devices ? `:${devices}${nodes ? `x${nodes}` : ''}` : '')];
  if (net && rate) words.push(`${net}=${rate}`);
  if (wire) words.push(`link=${wire}`);
  if (pairs) words.push(`pairs=${pairs}`);
  if (ram) words.push(`ram=${ram}`);
  return words.join(',');
}

// What is wrong with a value of the form, before the server sees it: {field: sentence}.
export function troubles() {
  const found = {};
  for (const [name, what] of [['gpus', 'GPUs'], ['seq', 'tokens of a sequence'], ['batch', 'sequences or tokens']]) {
    if (!(parseCount(question[name]) >= 1))
      found[name] = `A whole number of ${what}, at least 1, such as 64, 8k or 4M.`;
  }
  if (!question.model && !question.config) found.model = 'The name of a preset, or a config.json.';
  const seq = parseCount(question.seq), batch = parseCount(question.batch);
  if (!Object.keys(found).length && question.batch_unit === 'tokens' && batch % seq) {
    const below = Math.floor(batch / seq) * seq;
    found.batch =
      `${batch} tokens are no whole number of sequences of ${seq} tokens: ${below || seq} or ${below + seq} are.`;
  }
  return found;
}

export function globalBatch() {
  const batch = parseCount(question.batch);
  return question.batch_unit === 'tokens' ? Math.round(batch / parseCount(question.seq)) : batch;
}

// The message PlanRequest.
export function planRequest() {
  const q = question, plan = {
    model: q.config ? {config_json: q.config_json, name: q.model || 'config.json'} : {preset: q.model},
    cluster: {preset: q.cluster},
    framework: {preset: q.framework},
    gpus: parseCount(q.gpus),
    seq_len: parseCount(q.seq),
    global_batch: globalBatch(),
  };
  if (q.dtype) plan.dtype = `DTYPE_${q.dtype.toUpperCase()}`;
  if (q.optimizer) plan.optimizer = `OPTIMIZER_${q.optimizer.toUpperCase()}`;
  if (q.imbalance) plan.imbalance = Number(q.imbalance);
  for (const name of OPTIONS)
    if (q[name]) plan[name] = q[name];
  const measured = q.measured.split('\n').map((line) => line.trim()).filter(Boolean);
  if (measured.length) plan.measured = measured;
  return plan;
}

// The message RecommendRequest.
export function recommendRequest(more = {}) {
  const q = question, request = {plan: planRequest(), ...more};
  for (const name of ['where', 'objective', 'offload', 'mine'])
    if (q[name]) request[name] = q[name];
  if (q.oom) request.max_oom_probability = Number(q.oom);
  if (q.search) request.search = q.search.split(/\s*;\s*|\n/).filter(Boolean);
  return request;
}

// The field of the form that a violation of the server's is about; '' if the form has none.
export function fieldOf(violation) {
  const last = violation.field.replace(/\[\d+\]/g, '').split('.').filter((part) => part !== 'plan')[0] ?? '';
  const other =
    {seq_len: 'seq', global_batch: 'batch', max_oom_probability: 'oom', model: 'model', cluster: 'cluster_name'};
  return other[last] ?? (NAMES.includes(last) ? last : '');
}
