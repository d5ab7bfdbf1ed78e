// ECharts, where the server has it, in the page's colours. Its tooltips are drawn: as HTML they would need inline styles.
import { h } from './dom.js';

let loading = null;

// The library, or null: a build without it has a page without these charts.
export function echarts() {
  return (loading ??= new Promise((resolve) => {
    document.head.append(h('script', { src: 'echarts.js', onload: () => resolve(globalThis.echarts ?? null), onerror: () => resolve(null) }));
  }));
}

// A colour of page.css as ECharts takes it.
export function colour(name) {
  const probe = h('i', { style: { color: `var(--${name})` } });
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

export const textStyle = () => ({ color: colour('muted'), fontFamily: 'system-ui, "DejaVu Sans", sans-serif', fontSize: 12 });

// A chart in `host` that follows its size until `signal` is aborted. `label` says what it shows.
export async function chart(host, label, signal) {
  const library = await echarts();
  if (!library || signal.aborted) return null;
  host.setAttribute('role', 'img');
  host.setAttribute('aria-label', label);
  const made = library.init(host, null, { renderer: 'canvas' });
  const watcher = new ResizeObserver(() => made.resize());
  watcher.observe(host);
  signal.addEventListener('abort', () => {
    watcher.disconnect();
    made.dispose();
  });
  return made;
}
