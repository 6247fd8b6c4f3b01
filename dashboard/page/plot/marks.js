// Marks of trials: circles when there are few, a density image when there are many.
//   attune.plot.marks(pen, box, spec): draws
//     spec {count, px, py: Float32Array, pixels by row (NaN: no mark), mask: Uint8Array or null, kinds: Uint8Array by
//           row (index into colors) or null, colors: ["#rrggbb"], radius, alpha}
//   Rows that the mask leaves out are drawn below the others, in the colour of lines.
//   attune.plot.nearest(px, py, count, mask, x, y, within) -> row or -1
//   attune.plot.image(width, height, ratio) -> {width, height, pixels: Uint32Array (zeros), canvas(reused?)}: device pixels
(function () {
  "use strict";
  const { plot } = attune;

  // Buffers are kept from frame to frame: to allocate megabytes anew costs more than to clear them.
  const spare = new Map();
  function buffer(name, Type, size) {
    let array = spare.get(name);
    if (!array || array.length < size) spare.set(name, (array = new Type(size)));
    else array.fill(0, 0, size);
    return array;
  }
  plot.buffer = buffer;

  plot.image = function (width, height, ratio) {
    const image = new ImageData(Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio)));
    return {
      width: image.width,
      height: image.height,
      pixels: new Uint32Array(image.data.buffer),
      canvas(canvas = document.createElement("canvas")) {
        if (canvas.width !== image.width) canvas.width = image.width;
        if (canvas.height !== image.height) canvas.height = image.height;
        canvas.getContext("2d").putImageData(image, 0, 0);
        return canvas;
      },
    };
  };
  const scratch = document.createElement("canvas");

  // 256 opacities for a count or weight: growing with its logarithm, so that single marks stay visible.
  const opacity = new Uint8Array(1024);
  for (let i = 1; i < 1024; i++) opacity[i] = Math.min(255, 90 + 165 * (Math.log2(i) / 10));
  plot.opacity = (weight) => opacity[weight < 1023 ? weight | 0 : 1023];

  function paint(image, counts, kinds, colors, size, over) {
    const { width, height, pixels } = image;
    const inks = colors.map((color) => plot.abgr(color, 0));
    for (let y = 0; y < height - size; y++) {
      for (let x = 0, at = y * width; x < width - size; x++, at++) {
        if (!counts[at]) continue;
        const alpha = opacity[counts[at] < 1023 ? counts[at] : 1023];
        const ink = (inks[kinds[at]] | (alpha << 24)) >>> 0;
        for (let dy = 0; dy < size; dy++)
          for (let dx = 0; dx < size; dx++) {
            const to = at + dy * width + dx;
            if (over || pixels[to] >>> 24 < alpha) pixels[to] = ink;
          }
      }
    }
  }

  function density(pen, box, spec) {
    const ratio = pen.ratio || 1;
    const { count, px, py, mask, kinds, colors } = spec;
    const image = plot.image(box.right - box.left, box.bottom - box.top, ratio);
    const { width, height } = image;
    const size = Math.max(1, Math.round((count > 200000 ? 1 : 2) * ratio));
    const chosen = buffer("chosen", Uint16Array, width * height);
    const others = mask ? buffer("others", Uint16Array, width * height) : null;
    const pixelKinds = buffer("kinds", Uint8Array, width * height);
    for (let i = 0; i < count; i++) {
      const x = (px[i] - box.left) * ratio, y = (py[i] - box.top) * ratio;
      if (!(x >= 0 && x < width && y >= 0 && y < height)) continue;
      const at = (y | 0) * width + (x | 0);
      if (mask && !mask[i]) {
        if (others[at] < 1023) others[at]++;
      } else {
        if (chosen[at] < 1023) chosen[at]++;
        if (kinds) pixelKinds[at] = kinds[i];
      }
    }
    const w = box.right - box.left, h = box.bottom - box.top;
    if (mask) paint(image, others, buffer("none", Uint8Array, width * height), [plot.colors().line], size, false);
    paint(image, chosen, pixelKinds, colors, size, !!mask);
    pen.drawImage(image.canvas(scratch), box.left, box.top, w, h);
  }

  function circles(pen, { count, px, py, radius }, accept) {
    pen.beginPath();
    for (let i = 0; i < count; i++) {
      if (!(px[i] === px[i] && py[i] === py[i]) || !accept(i)) continue;
      pen.moveTo(px[i] + radius, py[i]);
      pen.arc(px[i], py[i], radius, 0, 2 * Math.PI);
    }
    pen.fill();
  }

  plot.marks = function (pen, box, spec) {
    const { count, mask, kinds, colors, alpha = 0.75 } = spec;
    spec.radius = spec.radius || (count > 1000 ? 2 : 3);
    if (count > plot.manyMarks) return density(pen, box, spec);
    pen.save();
    if (mask) {
      pen.fillStyle = plot.colors().line;
      circles(pen, spec, (i) => !mask[i]);
    }
    pen.globalAlpha = alpha;
    for (let kind = 0; kind < colors.length; kind++) {
      pen.fillStyle = colors[kind];
      circles(pen, spec, (i) => (!mask || mask[i]) && (kinds ? kinds[i] === kind : kind === 0));
    }
    pen.restore();
  };

  // A plain loop: at a million rows it takes 2 to 3 ms, less than to build an index after each change.
  plot.nearest = function (px, py, count, mask, x, y, within = 24) {
    let best = -1;
    let least = within * within;
    for (let i = 0; i < count; i++) {
      const dx = px[i] - x, dy = py[i] - y;
      const distance = dx * dx + dy * dy;
      if (distance < least && (!mask || mask[i])) {
        least = distance;
        best = i;
      }
    }
    return best;
  };

  // A ring around a mark, for the trial under the pointer.
  plot.ring = function (pen, x, y) {
    const colors = plot.colors();
    pen.lineWidth = 4;
    pen.strokeStyle = colors.bg;
    for (let turn = 0; turn < 2; turn++) {
      pen.beginPath();
      pen.arc(x, y, 6, 0, 2 * Math.PI);
      pen.stroke();
      pen.lineWidth = 2;
      pen.strokeStyle = colors.fg;
    }
  };
})();
