// Slices through the model of the results: what a Gaussian process that was fitted to them expects over one parameter,
// with its uncertainty, or over two, as a map; the others stay as in the best trial. The observations lie beside.
(function () {
  "use strict";
  const { plot, html } = attune;

  function axisScale(experiment, name, values) {
    const entry = experiment.space.find((one) => one.name === name);
    if (entry?.choices) return plot.parameterScale(entry);
    return new plot.Scale(entry?.log && values[0] > 0 ? "log" : "linear", values[0], values[values.length - 1], { whole: entry?.kind === "integer" });
  }

  // Pixels of the observations; null columns give nothing.
  function observed(experiment, xs, ys, x, y, store) {
    const { count } = experiment;
    if (!xs || !ys) return null;
    return { count, ...plot.pixelsOf(x, xs, y, ys, count, store) };
  }

  function interaction(experiment, marks, mask, box, brush) {
    const hitOf = (row) => ({ x: marks.px[row], y: marks.py[row], trial: experiment.column("trial")[row], lines: plot.describe(experiment, row) });
    const inside = (row) => marks.px[row] >= box.left - 1 && marks.px[row] <= box.right + 1 && marks.py[row] >= box.top - 1 && marks.py[row] <= box.bottom + 1;
    return {
      pick(mx, my) {
        const row = marks ? plot.nearest(marks.px, marks.py, marks.count, mask, mx, my) : -1;
        return row < 0 || !inside(row) ? null : hitOf(row);
      },
      place(trial) {
        const row = marks ? experiment.rowOf(trial) : -1;
        return row < 0 || row >= marks.count || !inside(row) ? null : hitOf(row);
      },
      brush,
    };
  }

  function drawModel(pen, box, x, y, { x: { values }, mean, deviation }) {
    const colors = plot.colors();
    if (x.kind !== "category") {
      const band = (k) => ({ low: mean.map((m, i) => m - k * deviation[i]), high: mean.map((m, i) => m + k * deviation[i]) });
      for (const k of [2, 1]) plot.drawBand(pen, { xs: values, band: band(k) }, x, y, colors.c1);
      return plot.drawLine(pen, { xs: values, ys: mean, width: 2 }, x, y, colors.c1);
    }
    pen.strokeStyle = pen.fillStyle = colors.c1;
    pen.lineWidth = 2;
    values.forEach((value, i) => {  // a choice has no neighbours: a point with its range of two deviations
      const at = x.of(value);
      plot.segment(pen, at, y.of(mean[i] - 2 * deviation[i]), at, y.of(mean[i] + 2 * deviation[i]));
      plot.segment(pen, at - 14, y.of(mean[i]), at + 14, y.of(mean[i]));
    });
  }

  // Why there is no model stands below the figure.
  function noModel(pen, width, height, { busy }) {
    const label = busy ? "The model is being fitted." : "There is no model yet.";
    plot.note(pen, width, height, label);
    return { label, waits: busy };
  }

  function sliceDraw(experiment, answer, metric) {
    const pixels = plot.memo();
    const store = {};
    return function (pen, width, height) {
      const version = experiment.version.value;
      const mask = experiment.mask.value;
      const { value } = answer.value;
      if (!value || value.y) return noModel(pen, width, height, answer.value);
      const column = experiment.column("m:" + metric.metric);
      const x = axisScale(experiment, value.x.name, value.x.values);
      const model = value.mean.flatMap((mean, i) => [mean - 2 * value.deviation[i], mean + 2 * value.deviation[i]]);
      const range = plot.fitted(column, experiment.count, metric.optimize_mode === "minimize") || [Infinity, -Infinity];
      const y = plot.valueScale("linear", [Math.min(range[0], ...model), Math.max(range[1], ...model)]);
      const box = plot.axes(pen, width, height, x, y, { xLabel: value.x.name, yLabel: value.metric, legend: [{ name: "observed", color: plot.colors().c0 }, { name: "model, 1 and 2 deviations", color: plot.colors().c1, kind: "line" }] });
      const marks = pixels([version, x.key, y.key], () => observed(experiment, experiment.column("p:" + value.x.name), column, x, y, store));
      plot.within(pen, box, () => {
        if (marks) plot.marks(pen, box, { ...marks, mask, kinds: null, colors: [plot.colors().c0], alpha: 0.55 });
        drawModel(pen, box, x, y, value);
      });
      return {
        label: "Expected " + attune.text(value.metric, 60) + " over " + attune.text(value.x.name, 60) + ", fitted to " + value.trials + " trials.",
        ...interaction(experiment, marks, mask, box, { box, x: x.kind === "category" ? null : { scale: x, column: "p:" + value.x.name }, y: { scale: y, column: "m:" + value.metric } }),
      };
    };
  }

  // One of two maps: key is "mean" or "deviation".
  function mapDraw(experiment, answer, key) {
    const pixels = plot.memo();
    const store = {};
    return function (pen, width, height) {
      const version = experiment.version.value;
      const mask = experiment.mask.value;
      const { value } = answer.value;
      if (!value || !value.y) return noModel(pen, width, height, answer.value);
      const x = axisScale(experiment, value.x.name, value.x.values), y = axisScale(experiment, value.y.name, value.y.values);
      const box = plot.axes(pen, width, height, x, y, { xLabel: value.x.name, yLabel: " " });
      const grid = { xs: value.x.values, ys: value.y.values, values: value[key] };
      const range = plot.extent(grid.values, grid.values.length) || [0, 1];
      plot.field(pen, box, x, y, grid, range);
      pen.strokeStyle = plot.colors().bg;
      pen.lineWidth = 1;
      pen.globalAlpha = 0.6;
      plot.contours(pen, x, y, grid, Array.from({ length: 9 }, (_, k) => range[0] + ((k + 1) / 10) * (range[1] - range[0])));
      pen.globalAlpha = 1;
      const marks = pixels([version, x.key, y.key], () => observed(experiment, experiment.column("p:" + value.x.name), experiment.column("p:" + value.y.name), x, y, store));
      plot.within(pen, box, () => marks && plot.marks(pen, box, { ...marks, mask, kinds: null, colors: [plot.colors().c1], radius: 2 }));
      plot.key(pen, box, range, value.y.name + ": " + (key === "mean" ? "expected " + value.metric : "its deviation"));
      const axis = (scale, name) => (scale.kind === "category" ? null : { scale, column: "p:" + name });
      return {
        label: (key === "mean" ? "Map of the expected " : "Map of the uncertainty of ") + attune.text(value.metric, 60) + " over " + attune.text(value.x.name, 60) + " and " + attune.text(value.y.name, 60) + ".",
        ...interaction(experiment, marks, mask, box, { box, x: axis(x, value.x.name), y: axis(y, value.y.name) }),
      };
    };
  }

  // What the model holds fixed, as text: all but the parameters that it goes along.
  function othersText({ x, y, at }) {
    const varied = new Set([x, y].map((one) => one && one.name.replace(/\[\d+\]/g, "")));
    const others = attune.flat(at).filter(([name]) => !varied.has(name));
    return others.map(([name, one]) => attune.text(name, 60) + " = " + attune.text(one, 40)).join(", ");
  }

  function csvOf(experiment, { value }) {
    if (!value) return [];
    const written = ({ name }) => {
      const choices = attune.choicesOf(experiment, "p:" + name);
      return (one) => (choices ? choices[one] : one);
    };
    const xs = value.x.values.map(written(value.x));
    if (!value.y) return [[value.x.name, "mean", "deviation"], ...xs.map((x, i) => [x, value.mean[i], value.deviation[i]])];
    const ys = value.y.values.map(written(value.y));
    return [[value.x.name, value.y.name, "mean", "deviation"], ...value.mean.map((mean, k) => {
      return [xs[k % xs.length], ys[Math.floor(k / xs.length)], mean, value.deviation[k]];
    })];
  }

  function View({ experiment }) {
    experiment.info.value;
    const first = experiment.space[0]?.name ?? "";
    const params = attune.useMemo(() => ({
      x: attune.param("slices.x", first), y: attune.param("slices.y", ""), metric: attune.param("slices.metric", ""), at: attune.param("slices.at", ""),
    }), [first]);
    const [x, y] = [params.x.value, params.y.value === params.x.value ? "" : params.y.value];
    const metric = experiment.metrics.find((one) => one.metric === params.metric.value) || experiment.metrics[0];
    const query = new URLSearchParams({ x });
    if (y) query.set("y", y);
    if (params.metric.value) query.set("metric", params.metric.value);
    if (/^\d+$/.test(params.at.value)) query.set("at", params.at.value);
    const root = attune.useRef();
    const answer = plot.useAnswer(experiment, experiment.path + "/posterior?" + query, root);
    const draws = attune.useMemo(() => ({
      slice: sliceDraw(experiment, answer, metric), mean: mapDraw(experiment, answer, "mean"), deviation: mapDraw(experiment, answer, "deviation"),
    }), [experiment, metric]);
    const options = plot.parameterOptions(experiment);
    const tools = html`<${plot.Choice} label="over" param=${params.x} options=${options} />
      <${plot.Choice} label="and" param=${params.y} options=${[["", "nothing else"], ...options.filter(([name]) => name !== x)]} />
      ${experiment.metrics.length > 1 && html`<${plot.Choice} label="metric" param=${params.metric} options=${[["", experiment.metrics[0].metric], ...experiment.metrics.slice(1).map((one) => [one.metric, one.metric])]} />`}
      <label>others as in trial <input type="text" inputmode="numeric" size="5" placeholder="best" value=${params.at.value} onChange=${(event) => params.at.set(event.target.value.replace(/\D/g, ""))} /></label>`;
    const csv = () => csvOf(experiment, answer.peek());
    const { value } = answer.value;
    return html`<div ref=${root}>
      ${y ? html`<div class="figure"><div class="row tools">${tools}</div></div><div class="pair">
          <${plot.Figure} key="mean" name="contour" experiment=${experiment} height=${320} draw=${draws.mean} csv=${csv} />
          <${plot.Figure} key="deviation" name="contour-deviation" experiment=${experiment} height=${320} draw=${draws.deviation} />
        </div>` : html`<${plot.Figure} key="slice" name="slice" experiment=${experiment} height=${320} draw=${draws.slice} csv=${csv} tools=${tools} />`}
      <${plot.Problem} state=${answer} />
      ${value && html`<${plot.Other} given=${[value.x.name, value.y?.name].filter(Boolean).join(" and ")} asked=${[x, y].filter(Boolean).join(" and ")} />`}
      <${plot.Whole} experiment=${experiment} />
      ${value && html`<p class="quiet">Fitted to ${attune.count(value.trials)} trials${value.note ? "; " + attune.text(value.note) : ""}. Others: ${attune.text(othersText(value) || "none", 300)}</p>`}
    </div>`;
  }

  attune.panels.slices = { title: "Slices of the model", wide: true, needs: (experiment) => experiment.space.length > 0 && experiment.metrics.length > 0, View };
})();
