// The form of the question. Every change of a control is a change of the question.
import {h, fill, template} from './dom.js';
import {call, isAbort} from './api.js';
import {count, parseCount, big} from './format.js';
import {change, clusterParts, clusterText, fieldOf, question, resetQuestion, troubles, useConfig} from './question.js';

const CLUSTER_PARTS = ['name', 'devices', 'nodes', 'net', 'rate', 'link', 'pairs', 'ram'];
let presets = null;
export const listPresets = () => (presets ??= call('Planner/ListPresets', {}).catch((error) => {
  presets = null;
  throw error;
}));

// Puts the form into `host`; its listeners end with `signal`. Returns {show(), blame(violations)}.
export function questionForm(host, signal) {
  const {root, refs} = template('question');
  const form = refs.form, field = (name) => form.elements[name];
  host.append(root);
  refs.summary.parentElement.parentElement.open = matchMedia('(min-width: 861px)').matches;

  const clusterFields = () =>
    Object.fromEntries(CLUSTER_PARTS.map((part) => [part, field(`cluster_${part}`).value.trim()]));

  function show() {
    for (const control of form.elements) {
      if (control.name in question && control !== document.activeElement) control.value = question[control.name];
    }
    // Fields that say the same already are left: a network without its rate says nothing yet.
    if (clusterText(clusterFields()) !== question.cluster) {
      const parts = clusterParts(question.cluster);
      for (const part of CLUSTER_PARTS) field(`cluster_${part}`).value = parts[part];
    }
    for (const slider of form.querySelectorAll('[data-for]')) slide(slider);
    const words = /[,:]/.test(question.cluster);
    refs.cluster_text.textContent = words ? `--cluster '${question.cluster}'` : '';
    refs.config.hidden = !question.config;
    refs.config_name.textContent = question.model;
    field('model').parentElement.hidden = Boolean(question.config);
    refs.config_file.closest('label').hidden = Boolean(question.config);
    const batch = `batch ${question.batch}${question.batch_unit ? ' tokens' : ''}`;
    refs.summary.textContent =
      `${question.model} · ${question.gpus} × ${question.cluster} · ${question.seq} tokens · ${batch}`;
    for (const [ref, names] of [
           ['network', words], ['options', optionsAreUsed()], ['own', question.mine || question.measured]])
      if (names) refs[ref].open = true;
  }

  const optionsAreUsed = () => [...refs.options.querySelectorAll('[name]')].some((control) => question[control.name]);

  function slide(slider) {
    const value = parseCount(question[slider.dataset.for]);
    if (slider.dataset.for === 'batch') {
      [slider.min, slider.max] = question.batch_unit ? [13, 26] : [0, 14];
    }
    if (value >= 1) slider.value = Math.log2(value);
    slider.setAttribute('aria-valuetext', count(2 ** slider.value));
  }

  form.addEventListener('input', ({target}) => {
    if (target.dataset.for) {
      const value = String(2 ** target.value);
      field(target.dataset.for).value = value;
      change({ [target.dataset.for]: value });
    } else if (target.name.startsWith('cluster_')) {
      const parts = clusterFields(), inWords = /[,:]/.test(parts.name);
      change({cluster: inWords ? parts.name : clusterText(parts)});
    } else if (target.name === 'batch_unit') {
      const seq = parseCount(question.seq), batch = parseCount(question.batch);
      const converted = target.value ? batch * seq : batch / seq;
      change({batch_unit: target.value, batch: converted >= 1 ? String(converted) : question.batch});
    } else if (target.name in question) {
      change({[target.name]: target.value.trim()});
    }
    show();
  }, {signal});
  form.addEventListener('submit', (event) => event.preventDefault(), {signal});
  refs.reset.addEventListener('click', () => {
    resetQuestion();
    change({});
    show();
    field('model').focus();
  }, {signal});

  watchFiles(refs, show, signal);
  offerImport(refs, show, signal);
  offerPresets(refs, field);
  offerConditions(refs, field, signal);
  show();

  // Marks what is wrong. Returns the sentences that no field of the form is about.
  function blame(violations) {
    form.querySelectorAll('.violation').forEach((node) => node.remove());
    form.querySelectorAll('[aria-invalid]').forEach((control) => {
      control.removeAttribute('aria-invalid');
      control.removeAttribute('aria-describedby');
    });
    const found = violations.map(({field: name, description}) => [fieldOf({field: name}), description]);
    for (const [name, description] of found) {
      const control = name && field(name);
      if (!control) continue;
      const id = `wrong-${name}`;
      control.setAttribute('aria-invalid', 'true');
      control.setAttribute('aria-describedby', id);
      (control.closest('label, .slide') ?? control).after(h('p', {class: 'violation', id}, description));
      control.closest('details.more')?.setAttribute('open', '');
    }
    return found.filter(([name]) => !name).map(([, description]) => description);
  }

  const ownTroubles = () => Object.entries(troubles()).map(([name, description]) => ({field: name, description}));
  return {show, blame, ownTroubles};
}

// A config.json that is dropped anywhere on the page, or chosen.
function watchFiles(refs, show, signal) {
  const zone = refs.drop;
  async function take(file) {
    if (!file) return;
    try {
      await useConfig(file.name.replace(/\.json$/, '') === 'config' ? 'my model' : file.name.replace(/\.json$/, ''),
        await file.text());
    } catch {
      fill(refs.config_name, `${file.name} is no JSON file.`);
      refs.config.hidden = false;
      return;
    }
    show();
  }
  for (const type of ['dragover', 'dragleave', 'drop']) {
    document.addEventListener(type, (event) => {
      if (![...event.dataTransfer.types].includes('Files')) return;
      event.preventDefault();
      zone.classList.toggle('over', type === 'dragover');
      if (type === 'drop') take(event.dataTransfer.files[0]);
    }, {signal});
  }
  refs.config_file.addEventListener('change', () => {
    take(refs.config_file.files[0]);
    refs.config_file.value = '';
  }, {signal});
  refs.config_drop.addEventListener('click', () => {
    change({config: '', config_json: '', model: 'llama-3-8b'});
    show();
  }, {signal});
}

async function offerPresets(refs, field) {
  const list = await listPresets().catch(() => null);
  if (!list) return;
  const option = (value, label) => h('option', {value, label});
  fill(refs.form.querySelector('#models'),
    list.model_presets.map(
      (m) => option(m.name, `${big(m.parameters)} parameters${m.kind === 'dense' ? '' : `, ${m.kind}`}`)));
  fill(refs.form.querySelector('#clusters'),
    list.cluster_presets.map((c) => option(c.name, `${c.device}, ${(Number(c.memory_bytes) / 2 ** 30).toFixed(0)} GiB`)));
  fill(field('framework'), list.profiles.map((name) => h('option', {}, name)));
  if (!list.profiles.includes(question.framework)) field('framework').append(h('option', {}, question.framework));
  field('framework').value = question.framework;
}

// Completes the last word of a condition: a key, then what it is compared with, then one of its words.
async function offerConditions(refs, field, signal) {
  const {layout: keys} = await call('Planner/DescribeConditions', {}, {signal}).catch(() => ({layout: []}));
  const where = field('where'), list = refs.form.querySelector('#conditions');
  function offer() {
    const [, before, begun] = /^(.*?)([\w:]*)$/s.exec(where.value),
                     compared = /(\w+)\s*(?:!?=|in\s*\([^)]*)\s*$/.exec(before)?.[1];
    const after = /(\w+)\s+$/.exec(before)?.[1], isKey = (name) => keys.find((key) => key.name === name);
    const next = compared && isKey(compared) ? isKey(compared).words.map((word) => [word])
      : isKey(after)                         ? ['=', '!=', '<=', '>=', 'in ('].map((sign) => [sign])
      : /[\w)]\s+$/.test(before) && !/\b(and|or|not)\s+$/.test(before)
      ? [['and'], ['or']]
      : [...keys.map((key) => [key.name, key.help]), ['not']];
    fill(list, next.filter(([word]) => word.startsWith(begun)).map(([word,
      help]) => h('option', {value: before + word, label: help || null})));
  }
  where.addEventListener('input', offer, {signal});
  where.addEventListener('focus', offer, {signal});
}

// "What I run": flags, or files, become the layout `mine`, and the question's numbers where they say them.
function offerImport(refs, show, signal) {
  const said = refs.import_said;
  async function read(files) {
    try {
      const found = await call('Planner/Import', {files}, {signal});
      const {model, gpus, seq_len, global_batch} = found.request, known = (await listPresets()).models.includes(model);
      const options = Object.entries(found.options).map(([name, value]) => ` ${name}=${value}`).join('');
      change({
        ...(found.layout && {mine: found.layout + options}),
        ...(known && {model, config: '', config_json: ''}),
        ...(gpus > 0 && {gpus: String(gpus)}),
        ...(seq_len > 0 && {seq: String(seq_len)}),
        ...(global_batch > 0 && {batch: String(global_batch), batch_unit: ''}),
      });
      const rejected = found.entries.filter((entry) => entry.status === 'rejected');
      fill(said,
        h('p', {}, `Read as ${found.from}${found.layout ? '' : ', but the layout is not whole'}: `,
          `${count(found.entries.length)} names, ${count(rejected.length)} of which no estimate follows.`),
        h('ul', {class: 'notes'}, found.missing.map((sentence) => h('li', {}, sentence)),
          rejected.map((entry) => h('li', {}, `${entry.name}: ${entry.hint}`))));
      show();
    } catch (error) {
      if (!isAbort(error)) fill(said, h('p', {class: 'violation'}, error.message));
    }
  }
  refs.import_go.addEventListener('click', () => read([{name: 'pasted.sh', text: refs.import_text.value}]), {signal});
  refs.import_file.addEventListener('change', async () => {
    const files =
      await Promise.all([...refs.import_file.files].map(async (file) => ({name: file.name, text: await file.text()})));
    refs.import_file.value = '';
    await read(files);
  }, {signal});
}
