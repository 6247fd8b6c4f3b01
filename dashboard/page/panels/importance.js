// The importance of parameters, and of pairs of them, for the results.
(function () {
  "use strict";
  const { plot, html } = attune;
  const most = 25;

  // Bars of [{name, share, color}], with the share in words at the end of each.
  function drawBars(pen, width, height, bars) {
    const colors = plot.colors();
    pen.font = plot.font();
    const names = Math.min(width * 0.42, 12 + Math.max(...bars.map(({ name }) => pen.measureText(name.slice(0, 80)).width)));
    const most = Math.max(...bars.map(({ share }) => share), 1e-12);
    const row = height / bars.length;
    const space = width - names - 62;
    pen.textBaseline = "middle";
    bars.forEach(({ name, share, color }, i) => {
      const middle = (i + 0.5) * row;
      pen.textAlign = "right";
      pen.fillStyle = colors.fg;
      pen.fillText(plot.fit(pen, name, names - 10), names - 8, middle);
      pen.fillStyle = colors[color];
      pen.fillRect(names, middle - row * 0.32, Math.max(1, (space * share) / most), row * 0.64);
      pen.textAlign = "left";
      pen.fillStyle = colors.muted;
      pen.fillText((100 * share).toFixed(1) + " %", names + Math.max(1, (space * share) / most) + 6, middle);
    });
    return {
      label: "Importance: " + bars.slice(0, 5).map(({ name, share }) => attune.text(name, 60) + " " + (100 * share).toFixed(1) + " %").join(", ") + ".",
      pick(x, y) {
        const bar = bars[Math.floor(y / row)];
        return bar ? { x: Math.max(x, 10), y, lines: [attune.text(bar.name, 120), (100 * bar.share).toFixed(2) + " %"] } : null;
      },
      over() {},
    };
  }

  function View({ experiment }) {
    const params = attune.useMemo(() => ({
      method: attune.param("importance.method", "ped-anova"), metric: attune.param("importance.metric", ""), pairs: attune.param("importance.pairs", ""),
    }), []);
    const pairs = params.method.value === "fanova" && params.pairs.value === "1";
    const metric = params.metric.value ? "&metric=" + encodeURIComponent(params.metric.value) : "";
    const path = experiment.path + "/importance?method=" + encodeURIComponent(params.method.value) + metric + (pairs ? "&pairs=1" : "");
    const root = attune.useRef();
    const answer = plot.useAnswer(experiment, path, root);
    const { value, busy } = answer.value;
    const bars = (value?.parameters || []).map(({ parameter, share }) => ({ name: parameter, share, color: "c0" }));
    for (const { parameters, share } of (pairs && value?.pairs) || []) bars.push({ name: parameters.join(" × "), share, color: "c1" });
    const sorted = bars.filter(({ share }) => share !== null).sort((a, b) => b.share - a.share);
    const shown = sorted.slice(0, most);
    const draw = (pen, width, height) => {
      if (shown.length) return drawBars(pen, width, height, shown);
      const label = busy ? "The importance is being computed." : "There are too few results yet.";
      plot.note(pen, width, height, label);
      return { label, waits: busy };
    };
    const words = (method, name) => method + " for " + attune.text(name, 60);
    const csv = () => [["parameter", "share"], ...sorted.map(({ name, share }) => [name, share])];
    const methods = [["ped-anova", "PED-ANOVA"], ["fanova", "fANOVA"]];
    const tools = html`<${plot.Choice} label="method" param=${params.method} options=${methods} />
      ${experiment.metrics.length > 1 && html`<${plot.Choice} label="metric" param=${params.metric} options=${[["", experiment.metrics[0].metric], ...experiment.metrics.slice(1).map(({ metric }) => [metric, metric])]} />`}
      ${params.method.value === "fanova" && html`<${plot.Check} label="pairs" param=${params.pairs} />`}`;
    return html`<div ref=${root}><${plot.Figure} name="importance" height=${Math.max(90, 26 * shown.length)} draw=${draw} csv=${csv} tools=${tools} />
      <${plot.Problem} state=${answer} />
      ${value && html`<${plot.Other} given=${words(value.method, value.metric)} asked=${words(params.method.value, params.metric.value || experiment.metrics[0]?.metric)} />`}
      <${plot.Whole} experiment=${experiment} />
      ${value && html`<p class="quiet">From ${attune.count(value.trials)} results${value.best_trials ? ", of which the best " + attune.count(value.best_trials) + " were set against all" : ""}.
        ${sorted.length > most ? " The first " + most + " of " + sorted.length + " are shown." : ""}</p>`}
    </div>`;
  }

  attune.panels.importance = { title: "Importance", needs: (experiment) => experiment.space.length > 0, View };
})();
