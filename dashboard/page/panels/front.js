// The panel of the trade-off between two objectives: all results, the front, the limits, and how the front has grown.
(function () {
  "use strict";
  const { plot, html } = attune;

  const kindColors = ["c0", "c7", "c1"];
  const kindNames = ["within the limits", "breaks a limit", "front"];

  // The line that bounds what two results of the front dominate.
  function drawStairs(pen, points, x, y, better) {
    const sorted = [...points].sort((a, b) => a.x - b.x);
    pen.strokeStyle = plot.colors().c1;
    pen.lineWidth = 1.5;
    pen.beginPath();
    sorted.forEach((point, i) => {
      const [px, py] = [x.of(point.x), y.of(point.y)];
      if (!i) return pen.moveTo(px, py);
      // The corner lies on the worse side: at the larger x when small values of x are better.
      const before = sorted[i - 1];
      if (better.x === "minimize") pen.lineTo(px, y.of(before.y));
      else pen.lineTo(x.of(before.x), py);
      pen.lineTo(px, py);
    });
    pen.stroke();
  }

  function drawLimits(pen, box, scale, limit, vertical) {
    if (!limit) return;
    const colors = plot.colors();
    for (const [key, value] of Object.entries(limit)) {
      const at = Math.min(Math.max(scale.of(value), vertical ? box.left : box.top), vertical ? box.right : box.bottom);
      const beyond = key === "max" ? scale.last : scale.first;
      pen.globalAlpha = 0.07;
      pen.fillStyle = colors.bad;
      if (vertical) pen.fillRect(Math.min(at, beyond), box.top, Math.abs(beyond - at), box.bottom - box.top);
      else pen.fillRect(box.left, Math.min(at, beyond), box.right - box.left, Math.abs(beyond - at));
      pen.globalAlpha = 1;
      pen.strokeStyle = colors.bad;
      pen.lineWidth = 1;
      pen.setLineDash([5, 4]);
      if (vertical) plot.segment(pen, at, box.top, at, box.bottom);
      else plot.segment(pen, box.left, at, box.right, at);
      pen.setLineDash([]);
    }
  }

  function pick(experiment, params) {
    const last = experiment.metrics.length - 1;
    const at = (param) => Math.min(Number(param.value) || 0, last);
    return [experiment.metrics[at(params.x)], experiment.metrics[at(params.y)]];
  }

  function makeDraw(experiment, params, answer) {
    const store = {};
    const [ranges, pixels] = [plot.memo(), plot.memo()];
    return function (pen, width, height) {
      const version = experiment.version.value;
      const mask = experiment.mask.value;
      const [mx, my] = pick(experiment, params);
      const front = answer.value.value?.front || [];
      const { count } = experiment;
      const [xs, ys] = [experiment.column("m:" + mx.metric), experiment.column("m:" + my.metric)];
      const range = ranges([version, mx, my, params.all.value], () => xs && ys && [[xs, mx], [ys, my]].map(([column, { optimize_mode }]) =>
        params.all.value ? plot.extent(column, count) : plot.fitted(column, count, optimize_mode === "minimize")));
      if (!range || !range[0] || !range[1]) return plot.note(pen, width, height, "No results yet."), { label: "No results yet." };
      const [x, y] = range.map((one) => plot.valueScale("linear", one));
      const colors = kindColors.map((key) => plot.colors()[key]);
      const legend = kindNames.map((name, i) => ({ name, color: colors[i] })).filter((_, i) => i !== 1 || experiment.metrics.some((one) => one.limit));
      const box = plot.axes(pen, width, height, x, y, { xLabel: mx.metric, yLabel: my.metric, legend });
      const rows = front.map((trial) => experiment.rowOf(trial)).filter((row) => row >= 0 && row < count);
      const { px, py, kinds } = pixels([version, mx, my, x.key, y.key], () => {
        const violation = experiment.column("violation");
        const kinds = plot.room(store, "kinds", Uint8Array, count);
        for (let i = 0; i < count; i++) kinds[i] = violation[i] > 0 ? 1 : 0;
        return { ...plot.pixelsOf(x, xs, y, ys, count, store), kinds };
      });
      plot.within(pen, box, () => {
        drawLimits(pen, box, x, mx.limit, true);
        drawLimits(pen, box, y, my.limit, false);
        plot.marks(pen, box, { count, px, py, mask, kinds, colors });
        // Of more than two objectives the front is no line in two of them.
        if (experiment.metrics.length === 2 && mx !== my && mx.optimize_mode === my.optimize_mode)
          drawStairs(pen, rows.map((row) => ({ x: xs[row], y: ys[row] })), x, y, { x: mx.optimize_mode });
        pen.fillStyle = colors[2];
        pen.beginPath();
        for (const row of rows) {
          if (mask && !mask[row]) continue;
          pen.moveTo(px[row] + 4, py[row]);
          pen.arc(px[row], py[row], 4, 0, 2 * Math.PI);
        }
        pen.fill();
      });
      const hitOf = (row) => ({ x: px[row], y: py[row], trial: experiment.column("trial")[row], lines: plot.describe(experiment, row, front.includes(experiment.column("trial")[row]) ? ["on the front"] : []) });
      return {
        label: "Trade-off between " + attune.text(mx.metric, 60) + " and " + attune.text(my.metric, 60) + ": " + front.length + " trials are on the front.",
        pick(ax, ay) {
          const row = plot.nearest(px, py, count, mask, ax, ay);
          return row < 0 ? null : hitOf(row);
        },
        place(trial) {
          const row = experiment.rowOf(trial);
          return row < 0 || row >= count || !(px[row] >= box.left && py[row] >= box.top && px[row] <= box.right && py[row] <= box.bottom) ? null : hitOf(row);
        },
        brush: { box, x: { scale: x, column: "m:" + mx.metric }, y: { scale: y, column: "m:" + my.metric } },
      };
    };
  }

  function View({ experiment }) {
    const params = attune.useMemo(() => ({ x: attune.param("front.x", "0"), y: attune.param("front.y", "1"), all: attune.param("front.all", "") }), []);
    const root = attune.useRef();
    const answer = plot.useAnswer(experiment, experiment.path + "/front", root);
    const draw = attune.useMemo(() => makeDraw(experiment, params, answer), [experiment]);
    const coverage = answer.value.value?.coverage;
    const metrics = experiment.metrics.map(({ metric }) => "m:" + metric);
    const csv = () => plot.rowsOf(experiment, ["trial", "status", "violation", ...metrics]);
    const options = plot.metricOptions(experiment);
    const tools = html`<${plot.Choice} label="across" param=${params.x} options=${options} /><${plot.Choice} label="up" param=${params.y} options=${options} />
      <${plot.Check} label="outliers" param=${params.all} />`;
    return html`<div ref=${root}>
      <${plot.Figure} name="front" experiment=${experiment} height=${340} draw=${draw} csv=${csv} tools=${tools} />
      <${plot.Problem} state=${answer} />
      ${coverage && coverage.results.length > 1 && html`<h3>Volume that the front covers</h3><${plot.Lines} name="coverage" height=${150} x="results" y="volume"
        label="Volume covered by the front over the number of results." lines=${[{ name: "volume", color: "c1", xs: coverage.results, ys: coverage.volume, step: true }]} />`}
    </div>`;
  }

  attune.panels.front = { title: "Trade-offs", needs: (experiment) => experiment.metrics.length > 1, View };
})();
