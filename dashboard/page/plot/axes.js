// Axes, grid and legend for a context (a canvas's or SvgPen).
//   attune.plot.axes(pen, width, height, x, y, {xLabel, yLabel, legend, right}) -> {left, top, right, bottom}
//     sets the ranges of the scales x and y to the box that remains, draws grid, ticks, labels and the legend above it:
//     [{name, color, kind: "dot" | "line" | "box"}]
//   attune.plot.fit(pen, text, width) -> the text, cut with "…" so that it is no wider
//   attune.plot.within(pen, box, draw): draws clipped to the box
(function () {
  "use strict";
  const { plot } = attune;
  plot.font = (size = 12) => size + "px system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

  plot.fit = function (pen, text, width) {
    text = attune.text(text, 200);
    if (pen.measureText(text).width <= width) return text;
    let low = 0, high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pen.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
      else high = middle - 1;
    }
    return low ? text.slice(0, low) + "…" : "";
  };

  plot.within = function (pen, { left, top, right, bottom }, draw) {
    pen.save();
    pen.beginPath();
    pen.rect(left, top, right - left, bottom - top);
    pen.clip();
    draw();
    pen.restore();
  };

  // A line of half a pixel's shift is one sharp pixel wide.
  plot.segment = function (pen, x1, y1, x2, y2) {
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.lineTo(x2, y2);
    pen.stroke();
  };
  const sharp = (at) => Math.round(at) + 0.5;

  function drawY(pen, box, y, ticks, label, colors) {
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const { value, text } of ticks) {
      const at = sharp(y.of(value));
      if (y.kind !== "category") plot.segment(pen, box.left, at, box.right, at);
      pen.fillText(plot.fit(pen, text, box.left - 10), box.left - 6, at);
    }
    if (!label) return;
    pen.textAlign = "left";
    pen.textBaseline = "top";
    pen.fillStyle = colors.fg;
    pen.fillText(plot.fit(pen, label, (box.right - box.left) * 0.6 + 24), 2, 1);
  }

  function drawX(pen, box, x, ticks, label, colors) {
    pen.textAlign = "center";
    pen.textBaseline = "top";
    pen.fillStyle = colors.muted;
    let free = -Infinity;
    const room = x.kind === "category" ? (box.right - box.left) / Math.max(1, ticks.length) - 6 : 90;
    for (const { value, text } of ticks) {
      const at = sharp(x.of(value));
      if (x.kind !== "category") plot.segment(pen, at, box.bottom, at, box.bottom + 4);
      const words = plot.fit(pen, text, room);
      const half = pen.measureText(words).width / 2;
      const middle = Math.min(Math.max(at, half + 2), box.right + 12 - half);
      if (middle - half < free) continue;
      pen.fillText(words, middle, box.bottom + 6);
      free = middle + half + 6;
    }
    if (!label) return;
    pen.fillStyle = colors.fg;
    pen.textAlign = "right";
    pen.fillText(plot.fit(pen, label, box.right - box.left), box.right, box.bottom + 22);
  }

  plot.axes = function (pen, width, height, x, y, { xLabel = "", yLabel = "", legend = [], right = 12 } = {}) {
    const colors = plot.colors();
    const { places, top } = layOutLegend(pen, width - right, yLabel, legend);
    pen.font = plot.font();
    const bottom = height - (xLabel ? 40 : 24);
    y.range(bottom, top);
    const yTicks = y.ticks(y.kind === "category" ? (bottom - top) / 14 : (bottom - top) / 45);
    const widest = Math.max(...yTicks.map((tick) => pen.measureText(tick.text.slice(0, 60)).width), 10);
    const left = Math.ceil(Math.min(widest + 12, width * 0.3, 150));
    const box = { left, top, right: width - right, bottom };
    x.range(box.left, box.right);
    const xTicks = x.ticks((box.right - box.left) / (x.kind === "category" ? 44 : 85));
    pen.lineWidth = 1;
    pen.strokeStyle = colors.line;
    pen.fillStyle = colors.muted;
    drawY(pen, box, y, yTicks, yLabel, colors);
    plot.segment(pen, box.left, sharp(bottom), box.right, sharp(bottom));
    drawX(pen, box, x, xTicks, xLabel, colors);
    drawLegend(pen, places);
    return box;
  };

  // Where the entries of a legend go: on the line of the y label if there is room beside it, else on lines below it.
  function layOutLegend(pen, width, yLabel, entries) {
    if (!entries.length) return { places: [], top: yLabel ? 20 : 8 };
    pen.font = plot.font();
    const taken = yLabel ? Math.min(pen.measureText(yLabel.slice(0, 200)).width, width * 0.6) + 24 : 8;
    pen.font = plot.font(11);
    const places = entries.map((entry) => {
      const words = plot.fit(pen, entry.name, Math.min(200, width - 40));
      return { ...entry, words, width: pen.measureText(words).width + 26 };
    });
    const all = places.reduce((sum, place) => sum + place.width, 0);
    const beside = taken + all <= width;
    let x = beside ? width - all : 8;
    let y = beside || !yLabel ? 9 : 26;
    for (const place of places) {
      if (x + place.width > width && x > 8) [x, y] = [8, y + 16];
      Object.assign(place, { x, y });
      x += place.width;
    }
    return { places, top: y + 13 };
  }

  function drawLegend(pen, places) {
    const colors = plot.colors();
    pen.font = plot.font(11);
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    for (const { words, color, kind = "dot", x, y } of places) {
      pen.fillStyle = pen.strokeStyle = color;
      if (kind === "line") {
        pen.lineWidth = 2;
        plot.segment(pen, x, y, x + 12, y);
      } else if (kind === "box") {
        pen.fillRect(x, y - 5, 11, 10);
      } else {
        pen.beginPath();
        pen.arc(x + 6, y, 4, 0, 2 * Math.PI);
        pen.fill();
      }
      pen.fillStyle = colors.fg;
      pen.fillText(words, x + 15, y);
    }
  }

  // A note in the middle of a figure that has nothing to show.
  plot.note = function (pen, width, height, text) {
    pen.font = plot.font(13);
    pen.fillStyle = plot.colors().muted;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(plot.fit(pen, text, width - 20), width / 2, height / 2);
  };
})();
