// A chart of lines, for curves of best results, reports of a trial, and learning curves.
//   html`<${attune.plot.Lines} name label height x y xKind yKind lines note />`
//     lines  [{name, color: "c0", xs, ys, step, dots, width, alpha, band: {low, high}, trial, open()}]; NaN and null
//            are gaps. With step the value holds until the next x.
//     x, y   labels of the axes      note  shown when there is nothing to draw      waits  as of a picture, meanwhile
//     fit    (x, y) -> whether a point counts for the range of y: others may lie outside
(function () {
  "use strict";
  const { plot, html } = attune;

  const present = (value) => value !== null && value !== undefined && value - value === 0;

  function extents(lines, fit) {
    const range = { x: [Infinity, -Infinity], y: [Infinity, -Infinity] };
    const widen = (key, value) => {
      if (!present(value)) return;
      if (value < range[key][0]) range[key][0] = value;
      if (value > range[key][1]) range[key][1] = value;
    };
    for (const { xs, ys, band } of lines)
      for (let i = 0; i < xs.length; i++) {
        if (!present(ys[i]) && !band) continue;
        widen("x", xs[i]);
        if (fit && !fit(xs[i], ys[i])) continue;
        widen("y", ys[i]);
        if (band) widen("y", band.low[i]), widen("y", band.high[i]);
      }
    return range.x[0] <= range.x[1] && range.y[0] <= range.y[1] ? range : null;
  }

  plot.drawBand = function (pen, line, x, y, color) {
    const { xs, band } = line;
    pen.globalAlpha = 0.18;
    pen.fillStyle = color;
    const at = Array.from(xs, (_, i) => i).filter((i) => present(band.low[i]) && present(band.high[i]));
    pen.beginPath();
    at.forEach((i, k) => (k ? pen.lineTo(x.of(xs[i]), y.of(band.low[i])) : pen.moveTo(x.of(xs[i]), y.of(band.low[i]))));
    for (const i of at.reverse()) pen.lineTo(x.of(xs[i]), y.of(band.high[i]));
    pen.closePath();
    pen.fill();
    pen.globalAlpha = 1;
  };

  plot.drawLine = function (pen, { xs, ys, step, dots, width = 1.5, alpha = 1 }, x, y, color) {
    pen.globalAlpha = alpha;
    pen.strokeStyle = pen.fillStyle = color;
    pen.lineWidth = width;
    pen.lineJoin = "round";
    pen.beginPath();
    let down = false;
    let before = 0;
    for (let i = 0; i < xs.length; i++) {
      if (!present(ys[i])) {
        down = step && down;
        continue;
      }
      const px = x.of(xs[i]), py = y.of(ys[i]);
      if (!down) pen.moveTo(px, py);
      else {
        if (step) pen.lineTo(px, before);
        pen.lineTo(px, py);
      }
      down = true;
      before = py;
    }
    pen.stroke();
    if (dots || xs.length === 1) {
      pen.beginPath();
      for (let i = 0; i < xs.length; i++) {
        if (!present(ys[i])) continue;
        pen.moveTo(x.of(xs[i]) + 2.5, y.of(ys[i]));
        pen.arc(x.of(xs[i]), y.of(ys[i]), 2.5, 0, 2 * Math.PI);
      }
      pen.fill();
    }
    pen.globalAlpha = 1;
  };

  // The line and point next to (px, py); lines of thousands of points are a few 10^5 numbers, so a loop will do.
  function nearest(lines, x, y, px, py) {
    let best = null;
    let least = 30 * 30;
    for (const line of lines)
      for (let i = 0; i < line.xs.length; i++) {
        if (!present(line.ys[i])) continue;
        const dx = x.of(line.xs[i]) - px, dy = y.of(line.ys[i]) - py;
        const distance = dx * dx + dy * dy;
        if (distance < least) {
          least = distance;
          best = { line, i };
        }
      }
    return best;
  }

  plot.drawLines = function (pen, width, height, props) {
    const colors = plot.colors();
    const { lines, xKind = "linear", yKind = "linear", label, fit } = props;
    const range = extents(lines, fit);
    if (!range) {
      plot.note(pen, width, height, props.note || "Nothing to show yet.");
      return { label: props.note || label, waits: props.waits };
    }
    const whole = xKind === "linear" && range.x.every(Number.isInteger);
    const x = new plot.Scale(xKind === "log" && !(range.x[0] > 0) ? "linear" : xKind, ...range.x, { whole });
    const y = plot.valueScale(yKind, range.y);
    const legend = (props.legend || (lines.length > 1 ? lines.filter((line) => line.name) : [])).map((entry) => ({ kind: "line", ...entry, color: colors[entry.color || "c0"] }));
    const box = plot.axes(pen, width, height, x, y, { xLabel: props.x, yLabel: props.y, legend: legend.slice(0, 8) });
    plot.within(pen, { ...box, top: box.top - 3, bottom: box.bottom + 3, right: box.right + 3 }, () => {
      for (const line of lines) if (line.band) plot.drawBand(pen, line, x, y, colors[line.color || "c0"]);
      for (const line of lines) plot.drawLine(pen, line, x, y, colors[line.color || "c0"]);
    });
    return {
      label,
      pick(px, py) {
        const found = nearest(lines, x, y, px, py);
        if (!found) return null;
        const { line, i } = found;
        const words = [line.name, (props.x || "x") + " " + x.text(line.xs[i]), (props.y || "y") + " " + y.text(line.ys[i])];
        return { x: x.of(line.xs[i]), y: y.of(line.ys[i]), lines: words.filter(Boolean), trial: line.trial, open: line.open, line };
      },
      over(pen, hit) {
        if (hit.line) plot.drawLine(pen, { ...hit.line, width: 3, alpha: 1 }, x, y, colors[hit.line.color || "c0"]);
        plot.ring(pen, hit.x, hit.y);
      },
      place(trial) {
        const line = lines.find((one) => one.trial === trial);
        let i = line ? line.xs.length - 1 : -1;
        while (i >= 0 && !present(line.ys[i])) i--;
        return i < 0 ? null : { x: x.of(line.xs[i]), y: y.of(line.ys[i]), line, trial, lines: [line.name, y.text(line.ys[i])] };
      },
    };
  };

  plot.Lines = function (props) {
    const banded = props.lines.some(({ band }) => band);
    const ends = ({ band }, i) => (banded ? [band?.low[i], band?.high[i]] : []);
    const csv = () => [["line", props.x || "x", props.y || "y", ...(banded ? ["low", "high"] : [])],
      ...props.lines.flatMap((line) => Array.from(line.xs, (x, i) => [line.name, x, line.ys[i], ...ends(line, i)]))];
    return html`<${plot.Figure} name=${props.name} experiment=${props.experiment} height=${props.height || 260} tools=${props.tools}
      csv=${csv} draw=${(pen, width, height) => plot.drawLines(pen, width, height, props)} />`;
  };
})();
