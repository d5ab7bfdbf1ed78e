// Follows a sweep's events while the tab is visible. Hidden tabs have no stream; they catch up once they are seen.
import {heldKey} from './key.js';

// `hear` gets {events}, {ended}, {lost} or {error}, until `signal` is aborted.
export function watchSweep(sweep, hear, signal) {
  const worker = new SharedWorker(new URL('./watch_worker.js', import.meta.url), {type: 'module', name: 'meshwright'});
  let after = 0;
  const show = () => worker.port.postMessage(document.hidden ? {stop: true} : {watch: sweep, after, key: heldKey()});
  const stop = () => worker.port.postMessage({stop: true});
  worker.port.onmessage = ({data}) => {
    data.events = data.events?.filter((event) => !Number(event.sequence) || Number(event.sequence) > after);
    for (const event of data.events ?? []) after = Math.max(after, Number(event.sequence));
    hear(data);
  };
  document.addEventListener('visibilitychange', show, {signal});
  addEventListener('pagehide', stop, {signal});
  signal.addEventListener('abort', () => {
    stop();
    worker.port.close();
  });
  show();
}

// Calls `work` now and every `period_ms` while the tab is visible. Returns what calls it at once.
export function poll(work, period_ms, signal) {
  const tick = () => !document.hidden && !signal.aborted && work();
  const timer = setInterval(tick, period_ms);
  document.addEventListener('visibilitychange', tick, {signal});
  signal.addEventListener('abort', () => clearInterval(timer));
  tick();
  return tick;
}

// Collects calls: the first runs at once, those within `least_ms` after it become one.
export function throttled(work, least_ms) {
  let timer = 0, last = -Infinity, again = false, running = false;
  const run = async () => {
    timer = 0;
    if (running) return void (again = true);
    last = performance.now();
    running = true;
    await work();
    running = false;
    if (again) {
      again = false;
      start();
    }
  };
  const start = () => {
    timer ||= setTimeout(run, Math.max(0, last + least_ms - performance.now()));
  };
  return start;
}
