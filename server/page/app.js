// The frame of the page: which view is shown, for whom, in which colours, and whether the server answers.
import {login, logout, onConnection, session} from './lib/api.js';
import {fill, h, refsOf} from './lib/dom.js';
import {askOtherTabs, heldKey, takeKeyFromAddress} from './lib/key.js';
import {useRole} from './lib/measure.js';
import {onQuestion, pins, questionLink, readQuestion} from './lib/question.js';
import {link, onRoute, route, startRouting} from './lib/route.js';

const PLANNING = ['plan', 'layout', 'compare', 'space', 'scale', 'trust'];
const OTHERS = ['sweeps', 'sweep', 'trial', 'history', 'agents'];
const refs = refsOf(document);
const main = document.getElementById('main');
let mounted = null;  // {view, controls, controller}
let showing = 0;

async function show() {
  const turn = ++showing, view = [...PLANNING, ...OTHERS].includes(route.view) ? route.view : 'plan';
  await readQuestion();
  const module = await import(`./views/${view}.js`);
  if (turn !== showing) return;
  // A view shows another address itself, or says that it has to begin anew.
  if (mounted?.view !== view || mounted.controls.update() === 'anew') {
    const first = !mounted;
    mounted?.controller.abort();
    const controller = new AbortController();
    main.replaceChildren();
    scrollTo(0, 0);
    const controls = module.mount(main, {signal: controller.signal});
    mounted = {view, controls, controller};
    if (!first) main.focus({preventScroll: true});
  }
  document.title = `${module.title} · Meshwright`;
  showLinks(view);
}

function showLinks(view) {
  const parent = {sweep: 'sweeps', trial: 'sweeps'}[view] ?? view;
  for (const a of document.querySelectorAll('[data-view]')) {
    const name = a.dataset.view;
    a.href = PLANNING.includes(name) ? questionLink(name) : link(name);
    if (a.closest('nav')) name === parent ? a.setAttribute('aria-current', 'page') : a.removeAttribute('aria-current');
  }
  document.querySelector('nav [aria-current]')?.scrollIntoView({block: 'nearest', inline: 'nearest'});
  const n = pins().length;
  refs.pins.hidden = n === 0;
  refs.pins.textContent = n;
}

function showTheme() {
  const theme = localStorage.getItem('meshwright-theme') ?? 'auto';
  if (theme === 'auto')
    delete document.documentElement.dataset.theme;
  else
    document.documentElement.dataset.theme = theme;
  refs.theme.textContent = {auto: '◐', light: '☀', dark: '☾'}[theme];
  refs.theme.setAttribute('aria-label', `Colours: ${theme}. Change them.`);
  refs.theme.title = `Colours: ${theme}`;
  document.dispatchEvent(new CustomEvent('theme'));
}

refs.theme.addEventListener('click', () => {
  const order = ['auto', 'light', 'dark'], now = localStorage.getItem('meshwright-theme') ?? 'auto';
  localStorage.setItem('meshwright-theme', order[(order.indexOf(now) + 1) % 3]);
  showTheme();
});
refs.skip.addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
refs.logout.addEventListener('click', async () => {
  await logout().catch(() => {});
  askForLogin('You are logged out.');
});

// Without an answer, the server is asked every two seconds whether it is back.
let lost = 0;
onConnection((what) => {
  if (what === 'login') return askForLogin();
  if (what === 'found' && lost) {
    clearInterval(lost);
    lost = 0;
    refs.banner.hidden = true;
    show();
  } else if (what === 'lost' && !lost) {
    fill(refs.banner, 'The server does not answer. What you see may be old; the page tries again every two seconds.');
    refs.banner.hidden = false;
    lost = setInterval(() => session().catch(() => {}), 2000);
  }
});

let asking = false;

// The key may be of an earlier start, and a token may have expired: both lead here.
async function askForLogin(why) {
  if (asking) return;
  asking = true;
  if (!why && await askOtherTabs()) {
    asking = false;
    return start();
  }
  mounted?.controller.abort();
  mounted = null;
  document.title = 'Log in · Meshwright';
  if (location.protocol === 'http:') {
    fill(main,
      h('div', {class: 'empty'}, h('h2', {}, heldKey() ? 'This key is of an earlier start' : 'This page needs a key'),
        h('p', {}, 'Open the address that ', h('code', {}, 'meshwright ui'),
          ' printed when it started: it ends with the key.')));
    asking = false;
    return;
  }
  const said = h('p', {class: 'violation', role: 'alert'}),
        token = h('input', {type: 'password', name: 'token', autocomplete: 'current-password', required: true});
  fill(main,
    h('form', {
      class: 'login card',
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          await login(token.value.trim());
          asking = false;
          await start();
        } catch (error) {
          said.textContent = error.message;
          token.select();
        }
      },
    },
      h('h1', {}, 'Log in'),
      h('p', {class: 'muted'}, why ?? 'Your login has ended, or you have none yet. A token comes from ',
        why ? null : h('code', {}, 'meshwright token create'), why ? null : '.'),
      h('label', {}, 'Token', token), said, h('button', {class: 'primary'}, 'Log in')));
  token.focus();
}

async function start() {
  const who = await session().catch((error) => error);
  if (['UNAUTHENTICATED', 'PERMISSION_DENIED'].includes(who.code)) return;
  if (!(who instanceof Error)) {
    useRole(who.role || 'operator');
    refs.who.textContent = who.name ? `${who.name} (${who.role})` : '';
    refs.logout.hidden = !who.login;
  }
  mounted = null;
  await show();
}

takeKeyFromAddress();
showTheme();
onRoute(() => show());
onQuestion(() => mounted && showLinks(mounted.view), new AbortController().signal);
startRouting();
await start();
