// Parallel coordinates: one line a point, drawn on canvases some a frame, so that the page answers while 10,000
// lines are drawn. Ranges of the axes filter; failed runs have lanes of their own above each figure.
import {h, svg} from './dom.js';
import {logTicks, tick, ticks} from './format.js';
import {FIGURES} from './space_data.js';

const LANES = {
  'out of memory': 1,
  failed: 2
};
const MOST_PLACES = 16;  // a key with no more values has them at equal distances
const MARGIN = {
  left: 46,
  right: 76,
  top: 44,
  bottom: 16
};
const HUES = 10, REACH_PX = 7, BATCH = 40;
const FRAME_MS = 45, LEAST_LINES = 120;  // a frame that takes longer halves the lines of the next, down to these

// The axes of `names` over the points. share(row) is where a point lies, from 0 at the bottom to 1; `marks` are
// [share, text].
export function axesOf(rows, names, logs) {
  const lanes = rows.some((row) => row.outcome !== 'ok');
  return names.map((name) => {
    const values = [...new Set(rows.map((row) => row[name]).filter((v) => v !== undefined))];
    const label = FIGURES[name]?.label ?? name;
    if (!FIGURES[name] && (values.length <= MOST_PLACES || values.some((v) => typeof v !== 'number'))) {
      const words = sortedValues(values).map(String),
            places = new Map(words.map((w, i) => [w, i / Math.max(1, words.length - 1)]));
      return {
        name,
        label,
        share: (row) => places.get(String(row[name])) ?? 0,
        marks: words.map((w) => [places.get(w), w])
      };
    }
    const [low, high] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    const log = logs.includes(name) && low > 0, roof = lanes && FIGURES[name] ? 0.84 : 1, wide = high - low || 1;
    const at = log ? (v) => roof * Math.log(v / low) / Math.log(high / low || 2) : (v) => (roof * (v - low)) / wide;
    const laneOf = (outcome) => (roof < 1 ? roof + 0.08 * LANES[outcome] : 1);
    return {
      name,
      label,
      log,
      share: (row) => (FIGURES[name] && row.outcome !== 'ok' ? laneOf(row.outcome)
          : row[name] === undefined                          ? 0
                                                             : at(row[name])),
      marks: [
        ...(log ? logTicks(low, high) : ticks(low, high)).map((v) => [at(v), tick(v)]),
        ...(roof < 1 ? Object.keys(LANES).map((outcome) => [laneOf(outcome), outcome]) : [])
      ],
    };
  });
}

// Numbers by size, words by their letters.
export function sortedValues(values) {
  const both = (a, b) => typeof a === 'number' && typeof b === 'number';
  return [...values].sort((a, b) => (both(a, b) ? a - b : String(a).localeCompare(String(b))));
}

// A colour of page.css as [red, green, blue].
function rgb(name) {
  const probe = h('i', {style: {color: `var(--${name})`}});
  document.body.append(probe);
  const parts = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  return parts;
}

// Draws `rows` over `axes` into `host` until `signal` is aborted. `ranges` is {axis: [low, high]} in shares. Calls
// kept(indices) with the points within all ranges, hover(index or −1), changed(ranges) and moved(axis, place).
export function parallel(host, {rows, axes, inkedBy, ranges, kept, hover, changed, moved, signal}) {
  const [width, height] = [host.clientWidth, host.clientHeight], scale = Math.min(2, devicePixelRatio);
  const layers = [0, 1].map(() => h('canvas', {width: width * scale, height: height * scale, 'aria-hidden': 'true'}));
  const gap = (width - MARGIN.left - MARGIN.right) / Math.max(1, axes.length - 1),
        tall = height - MARGIN.top - MARGIN.bottom;
  const px = (i) => MARGIN.left + i * gap, py = (share) => MARGIN.top + (1 - share) * tall;
  const shares = axes.map((axis) => Float32Array.from(rows, axis.share));
  const hues = huesOf(rows, inkedBy), pens = [0, 1].map(() => new Pen());
  let inside = [];

  function trace(ctx, i) {
    ctx.moveTo(px(0), py(shares[0][i]));
    for (let a = 1; a < axes.length; ++a) ctx.lineTo(px(a), py(shares[a][i]));
  }

  // Draws the points some a frame; what is drawn next ends what is drawn now.
  function paint(layer, indices, ink, alpha, done) {
    const ctx = layers[layer].getContext('2d');
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    ctx.clearRect(0, 0, width, height);
    ctx.lineWidth = rows.length > 2000 ? 0.8 : 1.2;
    ctx.globalAlpha = alpha;
    let next = 0, lines = 5 * LEAST_LINES;
    pens[layer].run((frame_ms) => {
      lines = frame_ms > FRAME_MS ? Math.max(LEAST_LINES, lines / 2) : lines * 1.5;
      const until = Math.min(indices.length, next + lines);
      while (next < until) {
        ctx.strokeStyle = ink(indices[next]);
        ctx.beginPath();
        for (let n = 0; n < BATCH && next < until; ++n) trace(ctx, indices[next++]);
        ctx.stroke();
      }
      if (next >= indices.length) done?.();
      return next < indices.length;
    });
  }

  const {palette} = hues, faded = `rgb(${rgb('line').join()})`;
  const all = rows.map((_, i) => i);
  let faint = false;

  function filter() {
    const narrow =
      axes.map((axis, a) => [shares[a], ...(ranges[axis.name] ?? [0, 1])]).filter(([, low, high]) => low > 0 || high < 1);
    inside = narrow.length
      ? all.filter((i) => narrow.every(([s, low, high]) => s[i] >= low - 1e-6 && s[i] <= high + 1e-6))
      : all;
    if (narrow.length && !faint)
      paint(0, all, () => faded, 1);
    else if (!narrow.length)
      paint(0, [], () => faded, 1);
    faint = narrow.length > 0;
    paint(1, inside, (i) => palette[hues.of[i]], inside.length > 2000 ? 0.22 : 0.6,
      () => performance.mark('meshwright-drawn'));
    kept(inside);
  }

  const soon = new Pen(), refilter = () => soon.run(() => (filter(), false));
  const overlay = drawAxes({axes, width, height, px, py, tall, gap, ranges, refilter, changed, moved});
  host.replaceChildren(...layers, overlay);
  overlay.addEventListener('pointermove', (event) => {
    const box = overlay.getBoundingClientRect();
    hover(nearest(event.clientX - box.left, event.clientY - box.top));
  });
  signal.addEventListener('abort', () => [...pens, soon].forEach((pen) => pen.stop()));
  filter();

  function nearest(x, y) {
    const place = (x - MARGIN.left) / gap, a = Math.floor(place);
    if (a < 0 || a + 1 >= axes.length) return -1;
    let best = -1, least = REACH_PX / tall;
    const wanted = 1 - (y - MARGIN.top) / tall, [left, right, part] = [shares[a], shares[a + 1], place - a];
    for (const i of inside) {
      const distance = Math.abs(left[i] + (right[i] - left[i]) * part - wanted);
      if (distance <= least) [best, least] = [i, distance];
    }
    return best;
  }
}

// Work in animation frames: run() replaces the work before, which goes on while it returns true. It hears how long the
// frame before took, in milliseconds.
class Pen {
  #frame = 0;

  run(work) {
    this.stop();
    let before = performance.now();
    const step = (now) => {
      this.#frame = work(now - before) ? requestAnimationFrame(step) : 0;
      before = now;
    };
    this.#frame = requestAnimationFrame(step);
  }

  stop() { cancelAnimationFrame(this.#frame); }
}

// The colour of each point: from worse to better by its rank in a figure; failed ones are red.
function huesOf(rows, figure) {
  const [from, to] = [rgb('c2'), rgb('c4')],
               values =
                 Float64Array.from(rows, (r) => (r.outcome === 'ok' && Number.isFinite(r[figure]) ? r[figure] : NaN));
  const known = [...values].filter((v) => !Number.isNaN(v)), low = Math.min(...known),
        wide = Math.max(...known) - low || 1;
  const palette = [...Array(HUES).keys()].map(
    (n) => `rgb(${from.map((c, k) => Math.round(c + ((to[k] - c) * n) / (HUES - 1))).join()})`);
  palette.push(`rgb(${rgb('bad').join()})`);
  const of = Uint8Array.from(values, (v) => {
    const part = Number.isNaN(v) ? 0 : (v - low) / wide;
    return Number.isNaN(v) ? HUES : Math.round((FIGURES[figure]?.less ? 1 - part : part) * (HUES - 1));
  });
  return {palette, of};
}

// Axes with their marks, titles that are dragged, and ranges with a handle at each end for pointers and keys.
function drawAxes({axes, width, height, px, py, tall, gap, ranges, refilter, changed, moved}) {
  const shareAt = (event) =>
    Math.min(1, Math.max(0, 1 - (event.clientY - root.getBoundingClientRect().top - MARGIN.top) / tall));
  const root = svg('svg', {
    class: 'plot overlay',
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'group',
    'aria-label': 'Axes and their ranges'
  });
  root.append(...axes.map((axis, i) => {
    const range = () => (ranges[axis.name] ??= [0, 1]), x = px(i);
    const area = svg('rect', {class: 'range', x: x - 7, width: 14, rx: 2});
    const handles = [0, 1].map((end) => svg('path', {
      class: 'handle',
      tabindex: 0,
      role: 'slider',
      'aria-orientation': 'vertical',
      'aria-label': `${end ? 'Highest' : 'Lowest'} ${axis.label}`,
      'aria-valuemin': 0,
      'aria-valuemax': 100
    }));
    const show = () => {
      const [low, high] = range();
      area.setAttribute('y', py(high));
      area.setAttribute('height', Math.max(0, py(low) - py(high)));
      area.classList.toggle('on', low > 0 || high < 1);
      handles.forEach((handle, end) => {
        handle.setAttribute('d', end ? `M${x - 7} ${py(high)}h14l-7 -7z` : `M${x - 7} ${py(low)}h14l-7 7z`);
        handle.setAttribute('aria-valuenow', Math.round(100 * range()[end]));
        handle.setAttribute('aria-valuetext',
          axis.marks.reduce(
            (near, mark) => (Math.abs(mark[0] - range()[end]) < Math.abs(near[0] - range()[end]) ? mark : near))[1]);
      });
      refilter();
    };
    const set = (low, high) => {
      ranges[axis.name] = [Math.min(low, high), Math.max(low, high)];
      show();
    };
    const drag = (begin, fixed) => {
      const move = (event) => set(fixed, shareAt(event));
      root.addEventListener('pointermove', move);
      addEventListener('pointerup', (event) => {
        root.removeEventListener('pointermove', move);
        if (fixed === begin && Math.abs(shareAt(event) - begin) < 0.01) set(0, 1);
        changed();
      }, {once: true});
    };
    handles.forEach((handle, end) => {
      handle.addEventListener('pointerdown', (event) => {
        event.stopPropagation();
        drag(NaN, range()[1 - end]);
      });
      handle.addEventListener('keydown', (event) => {
        const up = {ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1}[event.key];
        if (!up && event.key !== 'Escape') return;
        event.preventDefault();
        const stops = [0, ...axis.marks.map(([share]) => share), 1].sort((a, b) => a - b), [low, high] = range(),
              now = range()[end];
        const next = up > 0 ? stops.find((s) => s > now + 1e-6) ?? 1
          : up < 0          ? stops.findLast((s) => s < now - 1e-6) ?? 0
                            : end;
        end ? set(low, Math.max(low, next)) : set(Math.min(high, next), high);
        changed();
      });
    });
    const zone = svg('rect', {
      class: 'zone',
      x: x - 12,
      y: MARGIN.top,
      width: 24,
      height: tall,
      onpointerdown: (event) => {
        event.preventDefault();
        drag(shareAt(event), shareAt(event));
      }
    });
    const title = svg('text', {
      class: 'title',
      x,
      y: 16,
      'text-anchor': 'middle',
      onpointerdown: (event) => {
        event.preventDefault();
        addEventListener('pointerup', (end) => {
          const place = Math.min(axes.length - 1,
            Math.max(0, Math.round((end.clientX - root.getBoundingClientRect().left - MARGIN.left) / gap)));
          if (place !== i) moved(axis.name, place);
        }, {once: true});
      }
    },
      axis.label);
    show();
    let last = Infinity;
    const marks =
      [...axis.marks].sort((a, b) => a[0] - b[0]).filter(([share]) => last - py(share) >= 11 && ((last = py(share)), true));
    return svg('g', {}, svg('path', {class: 'rail', d: `M${x} ${py(0)}V${py(1)}`}), area,
      marks.map(([share, text]) => svg('text', {class: 'mark', x: x + 9, y: py(share) + 4}, text)), zone, handles, title);
  }));
  return root;
}
