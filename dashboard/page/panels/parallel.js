// The panel of parallel coordinates: one axis for each parameter and metric, one line for each trial, coloured by its
// score. Dragging along an axis selects; all panels then show the selection.
(function () {
  "use strict";
  const { plot, html } = attune;
  const shownByDefault = 12;

  // [{column: name, label, scale, values}] of what is shown; the metrics come last.
  function axesOf(experiment, hidden) {
    const axes = [];
    experiment.space.forEach((entry, i) => {
      if (hidden.has(String(i))) return;
      if (entry.kind === "subset") return;  // sets of candidates have no order
      let scale = plot.parameterScale(entry);
      if (entry.kind === "normal") {  // it has no bounds
        const [low, high] = plot.extent(experiment.column("p:" + entry.name) || [], experiment.count) || [0, 1];
        scale = new plot.Scale(entry.log && low > 0 ? "log" : "linear", low, high);
      }
      axes.push({ name: "p:" + entry.name, label: entry.name, scale });
    });
    for (const { metric, optimize_mode } of experiment.metrics) {
      const column = experiment.column("m:" + metric);
      const range = column && plot.fitted(column, experiment.count, optimize_mode === "minimize");
      axes.push({ name: "m:" + metric, label: metric, metric: true, scale: new plot.Scale("linear", ...(range || [0, 1])) });
    }
    for (const axis of axes) axis.column = experiment.column(axis.name);
    return axes.filter((axis) => axis.column);
  }

  // Sets the pixels of axes; box.none is where lines of absent values run.
  function layOut(axes, width, height) {
    const box = { left: 46, right: width - 46, top: 26, bottom: height - 34 };
    const bin = (box.bottom - box.top) / (plot.binCount - 1);
    box.none = box.top + plot.lane * bin;
    axes.forEach((axis, k) => {
      axis.x = axes.length > 1 ? box.left + (k * (box.right - box.left)) / (axes.length - 1) : (box.left + box.right) / 2;
      axis.scale.range(box.bottom, box.top);
    });
    return box;
  }

  function yOf(axis, row, box) {
    const value = axis.column[row];
    return value === value ? Math.min(box.bottom, Math.max(box.top, axis.scale.of(value))) : box.none;
  }

  function drawPolylines(pen, axes, box, count, accept) {
    pen.beginPath();
    for (let i = 0; i < count; i++) {
      if (!accept(i)) continue;
      pen.moveTo(axes[0].x, yOf(axes[0], i, box));
      for (let k = 1; k < axes.length; k++) pen.lineTo(axes[k].x, yOf(axes[k], i, box));
    }
    pen.stroke();
  }

  // Lines in 16 shades, the best on top; few strokes with many lines each are fast.
  function drawFew(pen, axes, box, count, classes, accept) {
    const ramp = plot.ramp(16);
    let lines = 0;
    for (let i = 0; i < count; i++) if (accept(i)) lines++;
    pen.globalAlpha = Math.max(0.25, Math.min(0.85, 8 / Math.sqrt(lines + 1)));
    pen.lineWidth = lines > 200 ? 1 : 1.3;  // browsers have a faster way for thin lines
    for (let shade = 0; shade < 16; shade++) {
      pen.strokeStyle = plot.css(ramp[shade]);
      drawPolylines(pen, axes, box, count, (i) => classes[i] >> 2 === shade && accept(i));
    }
    pen.globalAlpha = 1;
  }

  function drawImages(pen, axes, box, images) {
    const bin = (box.bottom - box.top) / (plot.binCount - 1);
    images.forEach((image, k) => pen.drawImage(image, axes[k].x, box.top - 1.5 * bin, axes[k + 1].x - axes[k].x, plot.laneRows * bin));
  }

  function label(pen, text, width) {
    const end = /^.+([/.].+)$/.exec(text.slice(0, 1000));  // the end of a path tells most
    if (!end || pen.measureText(text.slice(0, 200)).width <= width) return plot.fit(pen, text, width);
    return plot.fit(pen, "…" + end[1], width);
  }

  function drawAxis(pen, axis, box, gap, last) {
    const colors = plot.colors();
    pen.strokeStyle = colors.muted;
    pen.lineWidth = 1;
    const x = Math.round(axis.x) + 0.5;
    plot.segment(pen, x, box.top, x, box.bottom);
    pen.font = plot.font(12);
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    pen.fillStyle = axis.metric ? colors.accent : colors.fg;
    pen.fillText(label(pen, axis.label, Math.max(80, gap) - 8), x, box.top - 8);
    pen.font = plot.font(10.5);
    pen.textAlign = last ? "left" : "right";
    pen.textBaseline = "middle";
    for (const { value, text } of axis.scale.ticks(axis.scale.kind === "category" ? 14 : 5)) {
      const y = axis.scale.of(value);
      plot.segment(pen, x - 3, y, x + 3, y);
      const words = plot.fit(pen, text, Math.min(gap * 0.45, 90));
      const at = last ? x + 6 : x - 6;
      const wide = pen.measureText(words).width;
      pen.globalAlpha = 0.7;  // lines may run below
      pen.fillStyle = colors.bg;
      pen.fillRect(last ? at - 1 : at - wide - 1, y - 6, wide + 2, 12);
      pen.globalAlpha = 1;
      pen.fillStyle = colors.fg;
      pen.fillText(words, at, y);
    }
  }

  function drawFilters(pen, axes, box, filters) {
    const colors = plot.colors();
    for (const axis of axes)
      for (const filter of filters) {
        if (filter.column !== axis.name) continue;
        const spans = filter.values
          ? filter.values.map((value) => (value === value ? axis.scale.of(value) : box.none)).map((y) => [y - 7, y + 7])
          : [[axis.scale.of(filter.low), axis.scale.of(filter.high)].sort((a, b) => a - b)];
        for (const [from, to] of spans) {
          const top = Math.max(box.top - 6, from), bottom = Math.min(box.none + 8, to);
          pen.globalAlpha = 0.25;
          pen.fillStyle = colors.accent;
          pen.fillRect(axis.x - 8, top, 16, bottom - top);
          pen.globalAlpha = 1;
          pen.strokeStyle = colors.accent;
          pen.strokeRect(axis.x - 8, top, 16, bottom - top);
        }
      }
  }

  // A drag along an axis: a range, or the choices it covers; in the lane below, the trials without a value.
  function handlerOf(experiment, axes, box) {
    let axis = null;
    return {
      down(x, y) {
        axis = axes.find((one) => Math.abs(one.x - x) <= 14 && y > box.top - 12) || null;
        return axis !== null;
      },
      move(x, y, from) {
        const [top, bottom] = [Math.min(from.y, y), Math.max(from.y, y)];
        if (top > box.bottom + 4) return experiment.setFilter(axis.name, { values: [NaN] });
        if (axis.scale.kind === "category") {
          const values = axis.scale.names.map((_, i) => i).filter((i) => axis.scale.of(i) >= top - 6 && axis.scale.of(i) <= bottom + 6);
          return experiment.setFilter(axis.name, values.length ? { values } : null);
        }
        // At the ends the drag means all that lies beyond, such as outliers.
        const low = bottom >= box.bottom ? -Infinity : axis.scale.at(bottom);
        const high = top <= box.top ? Infinity : axis.scale.at(top);
        experiment.setFilter(axis.name, axis.metric ? { low, high } : { low: Math.max(low, axis.scale.low), high: Math.min(high, axis.scale.high) });
      },
      click() {
        const had = experiment.filters.peek().some((one) => one.column === axis.name);
        if (had) experiment.setFilter(axis.name, null);
        return had;
      },
    };
  }

  function nearestLine(axes, bins, box, count, mask, mx, my) {
    let k = 0;
    while (k < axes.length - 2 && mx > axes[k + 1].x) k++;
    if (axes.length < 2 || mx < axes[0].x - 5 || mx > axes[k + 1].x + 5) return -1;
    const share = (mx - axes[k].x) / (axes[k + 1].x - axes[k].x);
    const bin = (box.bottom - box.top) / (plot.binCount - 1);
    const want = (my - box.top) / bin;
    const [left, right] = [bins[k], bins[k + 1]];
    let best = -1, least = 8 / bin;
    for (let i = 0; i < count; i++) {
      const distance = Math.abs(left[i] + (right[i] - left[i]) * share - want);
      if (distance < least && (!mask || mask[i])) [least, best] = [distance, i];
    }
    return best;
  }

  function makeDraw(experiment, params) {
    const store = {};
    const memos = { axes: plot.memo(), bins: plot.memo(), classes: plot.memo(), all: plot.memo(), chosen: plot.memo() };
    return function (pen, width, height) {
      const version = experiment.version.value;
      const mask = experiment.mask.value;
      const selected = experiment.selectedCount.value;
      const hide = params.hide.value;
      const { count } = experiment;
      const axes = memos.axes([version, hide, experiment.space.length], () => axesOf(experiment, new Set(hide.split("."))));
      if (!count || axes.length < 2) return plot.note(pen, width, height, "No trials yet."), { label: "No trials yet." };
      const box = layOut(axes, width, height);
      const gap = (box.right - box.left) / (axes.length - 1);
      const bins = memos.bins([axes], () => plot.bins(axes, count, store));
      const classes = memos.classes([version], () => plot.scoreClasses(experiment.column(experiment.score), count, experiment.minimize));
      const pixels = Math.max(24, Math.round(gap / 2));
      const pairs = (tones, grey) => axes.slice(1).map((_, k) => plot.pairDensity(bins[k], bins[k + 1], count, tones, grey, pixels));
      const few = count <= plot.manyLines;
      const theme = attune.theme.value;
      if (mask && few) {
        pen.strokeStyle = plot.colors().line;
        pen.lineWidth = 1;
        drawPolylines(pen, axes, box, count, (i) => !mask[i]);
      } else if (!few) {
        drawImages(pen, axes, box, memos.all([axes, !mask, pixels, theme], () => pairs(classes, !!mask)));
      }
      if (few || (mask && selected <= plot.manyLines)) drawFew(pen, axes, box, count, classes, mask ? (i) => mask[i] : () => true);
      else if (mask) drawImages(pen, axes, box, memos.chosen([axes, mask, pixels, theme], () => pairs(plot.tones(classes, mask, count, store), false)));
      axes.forEach((axis, k) => drawAxis(pen, axis, box, gap, k === axes.length - 1));
      pen.fillStyle = plot.colors().muted;
      pen.textAlign = "left";
      pen.fillText("no value", 2, box.none);
      if (pen.svg) drawFilters(pen, axes, box, experiment.filters.peek());
      const hitOf = (row, x, y) => ({ x, y, row, trial: experiment.column("trial")[row], lines: plot.describe(experiment, row) });
      return {
        label: "Parallel coordinates of " + selected + " trials over " + axes.map((axis) => attune.text(axis.label, 40)).slice(0, 20).join(", ") + ".",
        handler: handlerOf(experiment, axes, box),
        clear: () => attune.batch(() => axes.forEach((axis) => experiment.setFilter(axis.name, null))),
        pick(mx, my) {
          const row = nearestLine(axes, bins, box, count, mask, mx, my);
          return row < 0 ? null : hitOf(row, mx, my);
        },
        place(trial) {
          const row = experiment.rowOf(trial);
          return row < 0 || row >= count ? null : hitOf(row, axes[axes.length - 1].x, yOf(axes[axes.length - 1], row, box));
        },
        under: (over) => drawFilters(over, axes, box, experiment.filters.peek()),
        over(over, { row }) {
          for (const [color, thick] of [["bg", 5], ["c1", 2.5]]) {
            over.strokeStyle = plot.colors()[color];
            over.lineWidth = thick;
            drawPolylines(over, axes, box, row + 1, (i) => i === row);
          }
        },
      };
    };
  }

  function AxesChoice({ experiment, hide }) {
    const hidden = new Set(hide.value.split("."));
    const flip = (key) => {
      hidden.has(key) ? hidden.delete(key) : hidden.add(key);
      hidden.delete("");
      hide.set([...hidden].join(".") || "none");
    };
    return html`<details><summary>axes</summary><div class="row">
      ${experiment.space.map(({ name }, i) => html`<label key=${i}><input type="checkbox" checked=${!hidden.has(String(i))} onChange=${() => flip(String(i))} /> ${attune.text(name, 60)}</label>`)}
    </div></details>`;
  }

  function View({ experiment }) {
    experiment.info.value;
    const { length } = experiment.space;
    const params = attune.useMemo(() => {
      const rest = Array.from({ length: Math.max(0, length - shownByDefault) }, (_, i) => i + shownByDefault);
      return { hide: attune.param("parallel.hide", rest.join(".")) };
    }, [length]);
    const draw = attune.useMemo(() => makeDraw(experiment, params), [experiment, params]);
    const axes = length + experiment.metrics.length - params.hide.value.split(".").filter((part) => /\d/.test(part)).length;
    const csv = () => plot.rowsOf(experiment, ["trial", "status", ...experiment.metrics.map(({ metric }) => "m:" + metric), ...experiment.space.map(({ name }) => "p:" + name)]);
    return html`<${plot.Figure} name="parallel" experiment=${experiment} height=${340} minWidth=${92 + 84 * (axes - 1)} draw=${draw} csv=${csv}
      tools=${html`<${AxesChoice} experiment=${experiment} hide=${params.hide} />`} />`;
  }

  attune.panels.parallel = { title: "Parallel coordinates", wide: true, needs: (experiment) => experiment.space.length > 0 && experiment.metrics.length > 0, View };
})();
