// Parallel coordinates: one line a point. Brushed axes filter, failed runs have a lane of their own above each figure.
import { colour, textStyle } from './charts.js';
import { logTicks, tick, ticks } from './format.js';
import { FIGURES } from './space_data.js';

const LANES = { 'out of memory': 1, failed: 2 };
const MOST_PLACES = 16;   // a key with no more values has them at equal distances
const MARGIN = { left: 60, right: 60, top: 42, bottom: 22 };

// The axes of `names` over the points: numbers are linear or in `logs`; words are places.
export function axesOf(rows, names, logs) {
  const lanes = rows.some((row) => row.outcome !== 'ok');
  return names.map((name) => {
    const values = rows.map((row) => row[name]).filter((v) => v !== undefined);
    const distinct = [...new Set(values)];
    if (!FIGURES[name] && (distinct.length <= MOST_PLACES || values.some((v) => typeof v !== 'number'))) {
      const words = distinct.sort((a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : 1)).map(String);
      return { name, words, at: (row) => words.indexOf(String(row[name] ?? '')), low: 0, high: Math.max(1, words.length - 1), marks: words.map((_, i) => i), format: (i) => words[Math.round(i)] ?? '' };
    }
    let [low, high] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    const log = logs.includes(name) && low > 0;
    const marks = log ? logTicks(low, high) : ticks(low, high);
    const lane = (n) => (log ? high * (high / low) ** (0.09 * n) : high + (high - low || 1) * 0.09 * n);
    const top = lanes && FIGURES[name] ? lane(2) : high;
    const laneMarks = top > high ? Object.entries(LANES).map(([outcome, n]) => [lane(n), outcome]) : [];
    return {
      name, log, low, high: top, marks: [...marks, ...laneMarks.map(([v]) => v)],
      at: (row) => (FIGURES[name] && row.outcome !== 'ok' ? lane(LANES[row.outcome]) : row[name] ?? (laneMarks.length ? lane(2) : low)),
      format: (v) => laneMarks.find(([lane_]) => Math.abs(lane_ - v) < 1e-9 * Math.abs(v))?.[1] ?? tick(v),
    };
  });
}

export function parallelOption(rows, axes, colouredBy) {
  const muted = textStyle(), figure = axes.findIndex((axis) => axis.name === colouredBy);
  const ink = figure < 0 ? null : axes[figure], better = FIGURES[colouredBy]?.less ? ['c4', 'c2'] : ['c2', 'c4'];
  return {
    animation: false, textStyle: muted,
    parallel: { ...MARGIN, axisExpandable: false },
    parallelAxis: axes.map((axis, dim) => ({
      dim, name: FIGURES[axis.name]?.label ?? axis.name, type: axis.log ? 'log' : 'value', min: axis.low, max: axis.high > axis.low ? axis.high : axis.low + 1,
      nameTextStyle: { ...muted, color: colour('ink'), fontWeight: 600 }, nameGap: 18,
      axisLine: { lineStyle: { color: colour('control') } }, axisTick: { customValues: axis.marks }, splitLine: { show: false }, minorTick: { show: false },
      axisLabel: { ...muted, customValues: axis.marks, formatter: (v) => axis.format(v), hideOverlap: true, textBorderColor: colour('surface'), textBorderWidth: 4, color: colour('ink') },
      areaSelectStyle: { width: 22, borderColor: colour('accent'), color: colour('accent'), opacity: 0.25 },
    })),
    visualMap: ink && { show: false, dimension: figure, min: ink.low, max: ink.high, inRange: { color: better.map(colour) } },
    series: {
      type: 'parallel', data: rows.map((row) => axes.map((axis) => axis.at(row))), lineStyle: { width: rows.length > 2000 ? 0.7 : 1.2, opacity: rows.length > 2000 ? 0.25 : 0.55, color: colour('c1') },
      inactiveOpacity: rows.length > 2000 ? 0.01 : 0.04, activeOpacity: rows.length > 2000 ? 0.5 : 0.8, progressive: 400, progressiveThreshold: 1500, silent: true, smooth: 0,
    },
  };
}

// The index of the point whose line passes nearest to a pixel of a chart; −1 where none is within six pixels.
export function nearest(rows, axes, shown, x, y, width, height) {
  const step = (width - MARGIN.left - MARGIN.right) / (axes.length - 1), place = (x - MARGIN.left) / step, left = Math.floor(place);
  if (left < 0 || left >= axes.length - 1) return -1;
  const share = (axis, row) => (axis.log ? Math.log(axis.at(row) / axis.low) / Math.log(axis.high / axis.low) : (axis.at(row) - axis.low) / (axis.high - axis.low || 1));
  const tall = height - MARGIN.top - MARGIN.bottom, wanted = 1 - (y - MARGIN.top) / tall, [a, b] = [axes[left], axes[left + 1]];
  let best = -1, least = 6 / tall;
  for (const i of shown) {
    const at = share(a, rows[i]) + (share(b, rows[i]) - share(a, rows[i])) * (place - left), distance = Math.abs(at - wanted);
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}
