// What the drawing kit's parts share: colours of the theme, extents of columns, colour ramps, CSV.
//   attune.plot.colors() -> {fg, bg, muted, line, accent, good, bad, warn, c0 … c7}: "#rrggbb", of the present theme
//   attune.plot.extent(column, count) -> [low, high] of the finite values, null without any
//   attune.plot.quantiles(column, count, shares) -> values, from an even sample of 4,096; null without any
//   attune.plot.ramp(size) -> Uint32Array of ABGR colours, from weak (0) to strong
//   attune.plot.csv(rows of cells) -> text;  attune.plot.memo() -> memo(keys, compute)
//   attune.plot.room(store, name, Type, size) -> array of at least that size, not cleared, kept in store for next time
(function () {
  "use strict";
  const names = ["fg", "bg", "raised", "muted", "line", "accent", "good", "bad", "warn", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];

  // Marks beyond this number become a density: one path of more circles takes longer than a frame.
  const plot = (attune.plot = { manyMarks: 5000, manyLines: 1000 });

  let known = { theme: null };
  plot.colors = function () {
    const theme = attune.theme.peek();
    if (known.theme === theme) return known;
    const style = getComputedStyle(document.documentElement);
    const pen = document.createElement("canvas").getContext("2d");
    known = { theme };
    for (const name of names) {
      pen.fillStyle = "#808080";
      pen.fillStyle = style.getPropertyValue("--" + name).trim();  // the canvas answers in one notation
      known[name] = pen.fillStyle;
    }
    return known;
  };

  plot.rgb = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  // "#0072b2" -> 0xffb27200: how a Uint32Array over ImageData sees it on little-endian machines, which all browsers
  // run on.
  plot.abgr = function (color, alpha = 255) {
    const [r, g, b] = plot.rgb(color);
    return ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;
  };
  plot.css = (abgr) => "rgb(" + (abgr & 255) + "," + ((abgr >> 8) & 255) + "," + ((abgr >> 16) & 255) + ")";

  plot.extent = function (column, count) {
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < count; i++) {
      const value = column[i];
      if (value < low && value !== -Infinity) low = value;  // no comparison holds for NaN
      if (value > high && value !== Infinity) high = value;
    }
    return low <= high ? [low, high] : null;
  };

  plot.sample = function (column, count, size = 4096) {
    const stride = Math.max(1, count / size);
    const kept = [];
    for (let at = 0; at < count; at += stride) {
      const value = column[Math.floor(at)];
      if (value - value === 0) kept.push(value);
    }
    return Float64Array.from(kept).sort();
  };

  plot.quantiles = function (column, count, shares) {
    const sorted = plot.sample(column, count);
    return sorted.length ? shares.map((share) => sorted[Math.round(share * (sorted.length - 1))]) : null;
  };

  // Light to dark on a light page, dark to light on a dark one: what is strong stands out, also in print.
  plot.ramp = function (size) {
    const { theme, line, c0, c5, fg } = plot.colors();
    const stops = (theme === "dark" ? [line, c0, c5, fg] : [line, c5, c0, fg]).map(plot.rgb);
    const ramp = new Uint32Array(size);
    for (let i = 0; i < size; i++) {
      const at = (i / Math.max(1, size - 1)) * (stops.length - 1);
      const k = Math.min(stops.length - 2, Math.floor(at));
      const [r, g, b] = [0, 1, 2].map((c) => Math.round(stops[k][c] + (at - k) * (stops[k + 1][c] - stops[k][c])));
      ramp[i] = (255 << 24) | (b << 16) | (g << 8) | r;
    }
    return ramp;
  };

  // A spreadsheet must not run a trial's text as a formula, so such a text gets an apostrophe.
  function cell(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "";
    if (typeof value === "number") return String(value);
    let text = String(value);
    if (/^[=+\-@\t\r]/.test(text)) text = "'" + text;
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  }

  plot.csv = (rows) => rows.map((row) => row.map(cell).join(",") + "\r\n").join("");

  // At 10^6 rows the first touch of fresh memory takes longer than the loop that fills it.
  plot.room = function (store, name, Type, size) {
    if (!store[name] || store[name].length < size) store[name] = new Type(Math.ceil(size * 1.25));
    return store[name];
  };

  // memo(keys, compute): what compute() gave last time, unless one of the keys is another value now.
  plot.memo = function () {
    let keys = null;
    let value;
    return function (now, compute) {
      if (!keys || now.length !== keys.length || now.some((key, i) => !Object.is(key, keys[i]))) {
        value = compute();
        keys = now;
      }
      return value;
    };
  };
})();
