// Elements without inline styles or handlers: the page's content security policy refuses both.

const SWITCHES = new Set(['checked', 'selected', 'disabled', 'hidden', 'open']);

// Makes an element. `props` are attributes; onNAME adds a listener, `style` sets properties one by one, and null or
// false leave a property out. Children are nodes, texts, or arrays of these.
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  set(node, props);
  node.append(...flat(children));
  return node;
}

export function svg(tag, props = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set(node, props);
  node.append(...flat(children));
  return node;
}

function set(node, props) {
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false || (SWITCHES.has(key) && !value)) continue;
    if (key.startsWith('on'))
      node.addEventListener(key.slice(2), value);
    else if (key === 'style')
      Object.entries(value).forEach(([name, v]) => node.style.setProperty(name, v));
    else
      node.setAttribute(key, value === true ? '' : value);
  }
}

const flat = (children) => children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false);

// Fills `node` with children as h() takes them.
export function fill(node, ...children) {
  node.replaceChildren(...flat(children));
  return node;
}

// A copy of <template id=NAME>, and its elements by their data-ref.
export function template(name) {
  const root = document.getElementById(name).content.cloneNode(true);
  return {root, refs: refsOf(root)};
}

export const refsOf = (root) =>
  Object.fromEntries([...root.querySelectorAll('[data-ref]')].map((n) => [n.dataset.ref, n]));

let toastTimer = 0;

export function toast(text) {
  const node = document.querySelector('.toast');
  node.textContent = text;
  node.classList.add('shown');
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => node.classList.remove('shown'), 2500);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // no clipboard without a secure context
    const area = h('textarea', {class: 'sr'});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  toast('Copied');
}

export function download(name, text, type = 'text/plain') {
  const url = URL.createObjectURL(new Blob([text], {type}));
  h('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

export const copyButton = (text, label = 'Copy') =>
  h('button', {type: 'button', class: 'small', onclick: () => copy(text)}, label);

// A table of `columns` {head, cell(row, index), class, name} whose head and rows a screen reader can follow. On
// narrow screens its rows are `cards`.
export function table(columns, rows, {caption, cards = true, rowProps = () => ({})} = {}) {
  return h('div', {class: cards ? 'scroll cards' : 'scroll', tabindex: 0, role: 'region', 'aria-label': caption},
    h('table', {}, caption && h('caption', {class: 'sr'}, caption),
      h('thead', {},
        h('tr', {}, columns.map((c) => h('th', {scope: 'col', class: c.class, 'aria-sort': c.sort}, c.head)))),
      h('tbody', {}, rows.map((row, i) => h('tr', rowProps(row, i), columns.map((c) => {
        const cell = c.cell(row, i);
        return cell instanceof HTMLTableCellElement
          ? cell
          : h('td', {class: c.class, 'data-head': typeof c.head === 'string' && c.head}, cell);
      }))))));
}
