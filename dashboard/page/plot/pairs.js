// The density between parallel axes: of a million trials one sees where many lines run and how good they are.
//   attune.plot.bins(axes, count, store) -> [Uint8Array by row of each axis]: 0 at the upper end … binCount - 1, or the lane of
//       what has no value (an inactive parameter). axes: [{name, scale, column}]; store as of plot.room
//   attune.plot.scoreClasses(column, count, minimize) -> Uint8Array by row: 0 worst … 63 best, by rank; 0 without score
//   attune.plot.tones(classes, mask, count, store) -> Uint8Array by row: the class, or 255 for what the mask leaves out
//   attune.plot.pairDensity(left, right, count, tones, grey, width) -> canvas, coloured by the mean class of the lines
//       through a pixel, or all in grey. left, right are bins of two axes; `width` pixels is enough
// Each pair of axes becomes a two-dimensional histogram, and each of its cells one line: the work is one pass over the
// rows and at most binCount² short lines, whatever the number of trials. The image is coarse; the browser smooths it.
(function () {
  "use strict";
  const { plot } = attune;
  const binCount = 96;
  const lane = 101;
  const rows = 104;
  Object.assign(plot, { binCount, lane, laneRows: rows });

  // Two loops: one for both would check the kind of scale a million times.
  function binLinear(column, count, bins, low, high) {
    const factor = (binCount - 1) / (high - low);
    for (let i = 0; i < count; i++) {
      const bin = (high - column[i]) * factor + 0.5;
      bins[i] = bin === bin ? (bin < 0 ? 0 : bin > 95 ? 95 : bin) : lane;
    }
  }
  function binLog(column, count, bins, low, high) {
    const factor = (binCount - 1) / (high - low);
    for (let i = 0; i < count; i++) {
      const bin = (high - Math.log(column[i])) * factor + 0.5;
      bins[i] = bin === bin ? (bin < 0 ? 0 : bin > 95 ? 95 : bin) : lane;
    }
  }

  plot.bins = (axes, count, store) => axes.map(({ name, scale, column }) => {
    const bins = plot.room(store, name, Uint8Array, count);
    if (scale.kind === "log") binLog(column, count, bins, Math.log(scale.low), Math.log(scale.high));
    else binLinear(column, count, bins, scale.low, scale.high);
    return bins;
  });

  plot.scoreClasses = function (column, count, minimize) {
    const classes = new Uint8Array(count);
    const sorted = plot.sample(column, count);
    if (!sorted.length) return classes;
    // Classes of 1,024 equal steps of the range, so that a row needs no search; the range leaves out the worst tail.
    const [low, high] = plot.fitted(column, count, minimize);
    const steps = 1024;
    const table = new Uint8Array(steps);
    for (let k = 0, at = 0; k < steps; k++) {
      while (at < sorted.length && sorted[at] <= low + ((k + 0.5) / steps) * (high - low)) at++;
      const rank = (at / sorted.length) * 63;
      table[k] = Math.round(minimize ? 63 - rank : rank);
    }
    const factor = steps / (high - low || 1);
    for (let i = 0; i < count; i++) {
      const step = (column[i] - low) * factor;
      if (step === step) classes[i] = table[step < 0 ? 0 : step >= steps ? steps - 1 : step | 0];
    }
    return classes;
  };

  // Both the number of lines in a cell and the sum of their classes are kept in one float64, the sum from bit 26 on:
  // half as many scattered writes. It is exact for up to 6 * 10^7 rows.
  const unit = 2 ** 26;
  const weights = Float64Array.from({ length: 256 }, (_, tone) => (tone === 255 ? 0 : 1 + tone * unit));

  // tones: class by row, 255 for rows that do not count.
  function histogram(left, right, count, tones) {
    const cells = plot.buffer("pair cells", Float64Array, 128 * 128);
    for (let i = 0; i < count; i++) cells[(left[i] << 7) | right[i]] += weights[tones[i]];
    return cells;
  }

  // Between choices there are few lines, each of which the eye can follow: these are traced finer, `zoom` times.
  function trace(cells, width, zoom) {
    const weight = plot.buffer("pair weight", Float32Array, width * rows * zoom);
    const tone = plot.buffer("pair tone", Float32Array, width * rows * zoom);
    for (let a = 0; a <= lane; a++)
      for (let b = 0; b <= lane; b++) {
        const cell = cells[(a << 7) | b];
        if (!cell) continue;
        const sum = Math.floor(cell / unit);
        const number = cell - sum * unit;
        const slope = ((b - a) * zoom) / width;
        let y = (a + 1.5) * zoom - 0.5 + 0.5 * slope;
        const step = slope < 0 ? -width : width;
        for (let x = 0; x < width; x++, y += slope) {
          const end = ((y + slope) | 0) * width + x;  // a steep line covers several pixels of a column
          let at = (y | 0) * width + x;
          do {
            weight[at] += number;
            tone[at] += sum;
            at += step;
          } while (slope < 0 ? at > end : at < end);
        }
      }
    return { weight, tone };
  }

  plot.tones = function (classes, mask, count, store) {
    const tones = plot.room(store, "tones", Uint8Array, count);
    for (let i = 0; i < count; i++) tones[i] = mask[i] ? classes[i] : 255;
    return tones;
  };

  plot.pairDensity = function (left, right, count, tones, grey, width) {
    const cells = histogram(left, right, count, tones);
    let lines = 0;
    for (let cell = 0; cell < 128 * 128; cell++) if (cells[cell]) lines++;
    const zoom = lines < 90 ? 2 : 1;
    width *= Math.min(2, zoom);
    const { weight, tone } = trace(cells, width, zoom);
    const image = plot.image(width, rows * zoom, 1);
    const { pixels } = image;
    const ramp = plot.ramp(64);
    const pale = plot.abgr(plot.colors().line, 0);
    const size = width * rows * zoom;
    let most = 1;
    for (let at = 0; at < size; at++) if (weight[at] > most) most = weight[at];
    // The opacity grows with the logarithm, from one line to the densest pixel of the pair.
    const factor = 1 / Math.log2(1 + most);
    for (let at = 0; at < size; at++) {
      if (!weight[at]) continue;
      const share = Math.log2(1 + weight[at]) * factor;
      const alpha = grey ? 30 + 150 * share : 20 + 235 * share * share;
      const ink = grey ? pale : ramp[Math.round(tone[at] / weight[at])] & 0xffffff;
      pixels[at] = (ink | (alpha << 24)) >>> 0;
    }
    return image.canvas();
  };
})();
