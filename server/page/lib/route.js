// Where the page is: #VIEW?NAME=VALUE&…. Whatever a view shows can be said by this address, so that a link shows the
// same to somebody else. Texts of files are deflated into it.
const listeners = new Set();
let pending = 0;

export const route = {
  view: 'plan',
  params: new URLSearchParams()
};

function read() {
  const [view, query] = location.hash.replace(/^#/, '').split(/\?(.*)/s);
  route.view = view || 'plan';
  route.params = new URLSearchParams(query ?? '');
}

export function onRoute(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function startRouting() {
  read();
  addEventListener('hashchange', () => {
    read();
    listeners.forEach((listener) => listener());
  });
}

// The address of a view with `params`, an object whose empty values are left out.
export function link(view, params = {}) {
  const query = new URLSearchParams(
    Object.entries(params).filter(([, value]) => value !== '' && value !== null && value !== undefined));
  const text = query.toString().replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%3D', '=');
  return `#${view}${text ? `?${text}` : ''}`;
}

export function go(view, params) { location.hash = link(view, params); }

// Writes the state of the present view into the address without a step of the history. Browsers allow few such writes
// a second, so that a moved slider is written once it rests.
export function settle(params) {
  const address = link(route.view, params);
  route.params = new URLSearchParams(address.split(/\?(.*)/s)[1] ?? '');
  clearTimeout(pending);
  const view = route.view;
  pending = setTimeout(() => route.view === view && history.replaceState(null, '', address), 200);
}

const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');

async function through(bytes, transform) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(transform)).arrayBuffer());
}

export async function pack(text) {
  return base64url(await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw')));
}

export async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
  return new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw')));
}
