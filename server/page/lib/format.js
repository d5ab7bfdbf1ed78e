// Numbers as people read them, always with their unit.
const GIB = 2 ** 30;
const locale = 'en-US';

export const count = (n) => Number(n).toLocaleString(locale);

// Three significant digits, without an exponent.
export function digits(x, significant = 3) {
  if (!Number.isFinite(x)) return '–';
  if (Math.abs(x) >= 10 ** significant) return count(Math.round(x));
  return x === 0 ? '0' : Number(x.toPrecision(significant)).toLocaleString(locale, {
    maximumFractionDigits: 12,
    minimumFractionDigits: decimals(x, significant)
  });
}

const decimals = (x, significant) => Math.max(0, Math.min(12, significant - 1 - Math.floor(Math.log10(Math.abs(x)))));

export function bytes(b) {
  const n = Number(b), size = Math.abs(n);
  if (size >= GIB) return `${(n / GIB).toFixed(size >= 100 * GIB ? 1 : 2)} GiB`;
  if (size >= 2 ** 20) return `${(n / 2 ** 20).toFixed(1)} MiB`;
  return size >= 1024 ? `${(n / 1024).toFixed(1)} KiB` : `${n} B`;
}

export const gib = (b) => Number(b) / GIB;

export function seconds(s) {
  if (!Number.isFinite(s)) return '–';
  const size = Math.abs(s);
  if (size === 0) return '0 s';
  if (size < 0.9995e-3) return `${digits(s * 1e6)} µs`;
  if (size < 0.9995) return `${digits(s * 1e3)} ms`;
  if (size < 120) return `${digits(s)} s`;
  if (size < 7200) return `${digits(s / 60)} min`;
  return size < 172800 ? `${digits(s / 3600)} h` : `${digits(s / 86400)} days`;
}

export const percent = (f, places = 1) => (Number.isFinite(f) ? `${(100 * f).toFixed(places)} %` : '–');

// A probability: what rounds to 0 or 100 % is not said to be either.
export function chance(p) {
  if (p < 0.001) return p > 0 ? '< 0.1 %' : '0 %';
  return p > 0.999 && p < 1 ? '> 99.9 %' : percent(p);
}

// A number of parameters or FLOP/s: 8.03 B, 577 T.
export function big(n, unit = '') {
  const x = Number(n);
  for (const [size, letter] of [[1e15, 'P'], [1e12, 'T'], [1e9, unit ? 'G' : 'B'], [1e6, 'M'], [1e3, 'k']]) {
    if (Math.abs(x) >= size) return `${digits(x / size)} ${letter}${unit}`;
  }
  return `${digits(x)} ${unit}`.trim();
}

export function age(timestamp, now = Date.now()) {
  if (!timestamp) return '–';
  const s = Math.max(0, (now - Date.parse(timestamp)) / 1000);
  if (s < 90) return `${Math.round(s)} s ago`;
  if (s < 5400) return `${Math.round(s / 60)} min ago`;
  return s < 129600 ? `${Math.round(s / 3600)} h ago` : `${Math.round(s / 86400)} days ago`;
}

export const clock = (timestamp) => new Date(timestamp).toLocaleTimeString(locale, {hour12: false});

// 'SWEEP_STATE_RUNNING' of the enum with the prefix 'SWEEP_STATE_' as 'running'; '' where it is not set.
export function word(value, prefix) {
  const text = (value ?? '').replace(prefix, '').toLowerCase();
  return text === 'unspecified' ? '' : text.replaceAll('_', ' ');
}

export const words = (identifier) => identifier.replaceAll('_', ' ');

// '8k' and '4M' as 8192 and 4194304; NaN for anything that is not a whole number.
export function parseCount(text) {
  const match = /^\s*([\d,_ ]*\.?\d+)\s*([kKmMgG]?)\s*$/.exec(text ?? '');
  if (!match) return NaN;
  const value = Number(match[1].replace(/[,_ ]/g, '')) * 1024 ** ' kmg'.indexOf(match[2].toLowerCase() || ' ');
  return Number.isInteger(value) ? value : NaN;
}

// A value of an axis: as many digits as it has, and no more.
export const tick = (v) => v.toLocaleString(locale, {maximumSignificantDigits: 6});

// Ticks at 1, 2 or 5 times a power of ten, about `n` of them.
export function ticks(low, high, n = 5) {
  const raw = (high - low) / Math.max(1, n), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); ++i)
    list.push(Number((i * step).toPrecision(12)));
  return list;
}

export function logTicks(low, high) {
  const list = [], wide = Math.log10(high / low) > 3;
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e) {
    for (const m of wide ? [1] : [1, 2, 5])
      if (m * 10 ** e >= low * 0.999 && m * 10 ** e <= high * 1.001) list.push(m * 10 ** e);
  }
  return list.length > 1 ? list : ticks(low, high);
}
