// The history panel: results over trials or time, the best so far as a line, running trials with their latest report.
(function () {
  "use strict";
  const { plot, html } = attune;

  const kindNames = ["succeeded", "runs: latest report", "stopped early", "failed or canceled", "breaks a limit, or lacks a metric"];
  const kindColors = ["c0", "c2", "c4", "bad", "c7"];
  const kindOfStatus = [1, 1, 1, 0, 3, 2, 3];  // by attune.statuses

  // {ys: Float64Array by row, NaN: nothing to show, kinds: Uint8Array, seen: Set of kinds}
  function results(experiment, metric, store) {
    const { count } = experiment;
    const final = experiment.column("m:" + experiment.metrics[metric].metric);
    const last = metric === 0 ? experiment.column("last") : null;
    const status = experiment.column("status");
    const violation = experiment.column("violation");
    const ys = plot.room(store, "ys", Float64Array, count);
    const kinds = plot.room(store, "kinds", Uint8Array, count);
    const numbers = new Uint32Array(5);
    for (let i = 0; i < count; i++) {
      let y = final[i];
      let kind = kindOfStatus[status[i]];
      if (y === y) kind = violation[i] <= 0 ? kind : 4;  // NaN: a metric is missing
      else if (last) y = last[i];
      if (y - y !== 0) y = NaN;
      ys[i] = y;
      kinds[i] = kind;
      if (y === y) numbers[kind]++;
    }
    return { ys, kinds, numbers };
  }

  // The best final result up to each half pixel of the x axis: no sorting by time is needed, and no step can be seen
  // that is narrower.
  function bestSoFar(px, { ys, kinds }, count, box, minimize) {
    const size = Math.ceil((box.right - box.left) * 2) + 2;
    const best = new Float64Array(size).fill(NaN);
    for (let i = 0; i < count; i++) {
      if (kinds[i] !== 0 || !(ys[i] === ys[i])) continue;
      const at = Math.round((px[i] - box.left) * 2);
      if (!(at >= 0 && at < size)) continue;
      if (!(minimize ? best[at] <= ys[i] : best[at] >= ys[i])) best[at] = ys[i];
    }
    const xs = [], values = [];
    let now = NaN;
    for (let at = 0; at < size; at++) {
      if (best[at] !== best[at] || (minimize ? best[at] >= now : best[at] <= now)) continue;
      now = best[at];
      xs.push(box.left + at / 2);
      values.push(now);
    }
    if (xs.length) xs.push(box.right), values.push(now);
    return { xs, values };
  }

  function drawBest(pen, { xs, values }, y) {
    pen.strokeStyle = plot.colors().c1;
    pen.lineWidth = 2;
    pen.beginPath();
    xs.forEach((x, i) => {
      if (i) pen.lineTo(x, y.of(values[i - 1]));
      i ? pen.lineTo(x, y.of(values[i])) : pen.moveTo(x, y.of(values[i]));
    });
    pen.stroke();
  }

  // Lines of limits on this metric; the side that breaks them is shaded.
  function drawLimit(pen, box, y, limit) {
    if (!limit) return;
    const colors = plot.colors();
    for (const [key, value] of Object.entries(limit)) {
      const at = y.of(value);
      pen.strokeStyle = colors.bad;
      pen.lineWidth = 1;
      pen.setLineDash([5, 4]);
      plot.segment(pen, box.left, at, box.right, at);
      pen.setLineDash([]);
      pen.globalAlpha = 0.06;
      pen.fillStyle = colors.bad;
      const edge = (key === "max") === (y.of(y.high) < y.of(y.low)) ? box.top : box.bottom;
      pen.fillRect(box.left, Math.min(at, edge), box.right - box.left, Math.abs(edge - at));
      pen.globalAlpha = 1;
    }
  }

  function makeDraw(experiment, params) {
    const store = {};
    const [data, ranges, pixels, lines] = [plot.memo(), plot.memo(), plot.memo(), plot.memo()];
    return function (pen, width, height) {
      const version = experiment.version.value;
      const mask = experiment.mask.value;
      const metric = Math.min(Number(params.metric.value) || 0, experiment.metrics.length - 1);
      const byTime = params.x.value === "time";
      const { count } = experiment;
      const xs = experiment.column(byTime ? "ended" : "trial");
      if (!count || !xs) return plot.note(pen, width, height, "No trials yet."), { label: "No trials yet." };
      const minimize = experiment.metrics[metric].optimize_mode === "minimize";
      const name = experiment.metrics[metric].metric;
      const shown = data([version, metric], () => results(experiment, metric, store));
      const range = ranges([shown, params.range.value], () =>
        (params.range.value === "1" ? plot.extent : plot.fitted)(shown.ys, count, params.range.value === "1" ? null : minimize));
      if (!range) return plot.note(pen, width, height, "No results yet."), { label: "No results yet." };
      const y = plot.valueScale(params.y.value, range);
      const end = byTime ? plot.extent(xs, count)?.[1] ?? 1 : Math.max(experiment.total, count, 1);
      const x = new plot.Scale(byTime ? "time" : "linear", 0, end, { whole: true });
      const colors = kindColors.map((key) => plot.colors()[key]);
      const used = kindNames.map((text, i) => ({ name: text, color: colors[i] })).filter((_, i) => shown.numbers[i]);
      const legend = [...(used.length > 1 ? used : []), { name: "best so far", color: plot.colors().c1, kind: "line" }];
      const box = plot.axes(pen, width, height, x, y, { xLabel: byTime ? "time since the start" : "trial", yLabel: name, legend });
      const spots = pixels([shown, byTime, x.key, y.key], () => {
        return plot.pixelsOf(x, xs, y, shown.ys, count, store);
      });
      const { px, py } = spots;
      drawLimit(pen, box, y, experiment.metrics[metric].limit);
      plot.within(pen, box, () => {
        plot.marks(pen, box, { count, px, py, mask, kinds: shown.kinds, colors });
        drawBest(pen, lines([spots, shown, box.right], () => bestSoFar(px, shown, count, box, minimize)), y);
      });
      const hitOf = (row) => ({ x: px[row], y: py[row], trial: experiment.column("trial")[row], lines: plot.describe(experiment, row) });
      return {
        label: sentence(experiment, name, shown),
        pick(mx, my) {
          const row = plot.nearest(px, py, count, mask, mx, my);
          return row < 0 ? null : hitOf(row);
        },
        place(trial) {
          const row = experiment.rowOf(trial);
          return row < 0 || row >= count || !(px[row] === px[row] && py[row] >= box.top && py[row] <= box.bottom) ? null : hitOf(row);
        },
        brush: { box, x: { scale: x, column: byTime ? "ended" : "trial" }, y: { scale: y, column: "m:" + name } },
      };
    };
  }

  function sentence(experiment, name, { numbers }) {
    const best = experiment.bestRow.peek();
    const score = best >= 0 ? experiment.column(experiment.score)[best] : NaN;
    const trial = best >= 0 ? experiment.column("trial")[best] : 0;
    return "Results of " + attune.text(name, 60) + " over trials: " + numbers[0] + " final results" +
      (best >= 0 ? ", the best score is " + attune.number(score) + " of trial " + trial : "") + ".";
  }

  function View({ experiment }) {
    const params = attune.useMemo(() => ({
      metric: attune.param("history.metric", "0"), x: attune.param("history.x", "trial"),
      y: attune.param("history.y", "linear"), range: attune.param("history.all", ""),
    }), []);
    const draw = attune.useMemo(() => makeDraw(experiment, params), [experiment]);
    experiment.info.value;  // metrics come with it
    const csv = () => plot.rowsOf(experiment, ["trial", "status", "started", "ended", "last", ...experiment.metrics.map(({ metric }) => "m:" + metric)]);
    const tools = html`
      ${experiment.metrics.length > 1 && html`<${plot.Choice} label="metric" param=${params.metric} options=${plot.metricOptions(experiment)} />`}
      <${plot.Choice} label="over" param=${params.x} options=${[["trial", "trials"], ["time", "time"]]} />
      <${plot.Choice} label="scale" param=${params.y} options=${[["linear", "linear"], ["log", "logarithmic"]]} />
      <${plot.Check} label="outliers" param=${params.range} />`;
    return html`<${plot.Figure} name="history" experiment=${experiment} height=${320} draw=${draw} csv=${csv} tools=${tools} />`;
  }

  attune.panels.history = { title: "History", wide: true, needs: (experiment) => experiment.metrics.length > 0, View };
})();
