// Values on a grid as a heat map with contour lines.
//   attune.plot.field(pen, box, x, y, grid, range): x, y scales with ranges; grid {xs, ys, values (ys-major; null or NaN:
//       absent)}; range [low, high] of the colours. Each grid point fills the area up to half way to its neighbours.
//   attune.plot.contours(pen, x, y, grid, levels): one line for each level (marching squares)
//   attune.plot.key(pen, box, range, text): a strip of the colours with the ends of the range, right above the box
(function () {
  "use strict";
  const { plot } = attune;

  plot.field = function (pen, box, x, y, { xs, ys, values }, [low, high]) {
    const ramp = plot.ramp(256);
    const nx = xs.length, ny = ys.length;
    const size = 2;  // pixels of the image for each CSS pixel would be wasted on a grid of 60
    const image = plot.image((box.right - box.left) / size, (box.bottom - box.top) / size, 1);
    // The place between grid points at each pixel: [index below, share of the next]; choices have no "between".
    const places = (scale, points, length, start, sign) => Array.from({ length }, (_, k) => {
      const value = scale.at(start + sign * (k + 0.5) * size);
      // A candidate that equals an earlier one has no point of its own.
      if (scale.kind === "category") return [points.indexOf(Math.round(value)), 0];
      let i = 0;
      while (i < points.length - 2 && points[i + 1] < value) i++;
      const share = points.length < 2 ? 0 : (scale.of(value) - scale.of(points[i])) / (scale.of(points[i + 1]) - scale.of(points[i]));
      return [i, Math.min(1, Math.max(0, share))];
    });
    const across = places(x, xs, image.width, box.left, 1);
    const down = places(y, ys, image.height, box.top, 1);
    const factor = 255 / (high - low || 1);
    for (let r = 0; r < image.height; r++) {
      const [j, v] = down[r];
      const below = j * nx, above = Math.min(ny - 1, j + 1) * nx;
      for (let c = 0; c < image.width; c++) {
        const [i, u] = across[c];
        if (i < 0 || j < 0) continue;
        const k = Math.min(nx - 1, i + 1);
        const value = (1 - v) * ((1 - u) * values[below + i] + u * values[below + k]) + v * ((1 - u) * values[above + i] + u * values[above + k]);
        if (value - value !== 0) continue;
        image.pixels[r * image.width + c] = ramp[Math.max(0, Math.min(255, Math.round((value - low) * factor)))];
      }
    }
    pen.drawImage(image.canvas(), box.left, box.top, box.right - box.left, box.bottom - box.top);
  };

  // Where a level crosses the side between two corners: a share of its length.
  const cross = (a, b, level) => (level - a) / (b - a);

  plot.contours = function (pen, x, y, { xs, ys, values }, levels) {
    if (x.kind === "category" || y.kind === "category") return;
    const nx = xs.length;
    const px = Array.from(xs, (value) => x.of(value)), py = Array.from(ys, (value) => y.of(value));
    pen.beginPath();
    for (const level of levels)
      for (let j = 0; j + 1 < ys.length; j++)
        for (let i = 0; i + 1 < nx; i++) {
          const corners = [values[j * nx + i], values[j * nx + i + 1], values[(j + 1) * nx + i + 1], values[(j + 1) * nx + i]];
          if (corners.some((value) => value === null || Number.isNaN(value))) continue;
          const at = [[px[i], py[j]], [px[i + 1], py[j]], [px[i + 1], py[j + 1]], [px[i], py[j + 1]]];
          const points = [];
          for (let side = 0; side < 4; side++) {
            const next = (side + 1) % 4;
            if (corners[side] < level === corners[next] < level) continue;
            const share = cross(corners[side], corners[next], level);
            points.push([at[side][0] + share * (at[next][0] - at[side][0]), at[side][1] + share * (at[next][1] - at[side][1])]);
          }
          for (let k = 0; k + 1 < points.length; k += 2) {
            pen.moveTo(...points[k]);
            pen.lineTo(...points[k + 1]);
          }
        }
    pen.stroke();
  };

  plot.key = function (pen, box, [low, high], text) {
    const ramp = plot.ramp(24);
    const width = 72, left = box.right - width - 44, top = box.top - 15;
    for (let k = 0; k < 24; k++) {
      pen.fillStyle = plot.css(ramp[k]);
      pen.fillRect(left + (k * width) / 24, top, width / 24 + 0.5, 8);
    }
    pen.font = plot.font(11);
    pen.fillStyle = plot.colors().muted;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    pen.fillText(attune.number(low, 3), left - 4, top + 4);
    pen.textAlign = "left";
    pen.fillText(attune.number(high, 3), left + width + 4, top + 4);
    pen.fillStyle = plot.colors().fg;
    pen.fillText(plot.fit(pen, text, left - box.left - 40), 2, top + 4);
  };
})();
