// Learning curves: intermediate results over their steps. The best trials, or what is selected, stand out against the
// band in which the middle 80 of 100 curves lie.
(function () {
  "use strict";
  const { plot, html } = attune;
  const palette = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];

  // The best `most` trials of a selection, as numbers.
  function bestSelected(experiment, mask, most) {
    const column = experiment.column(experiment.score);
    const last = experiment.column("last");
    const trial = experiment.column("trial");
    const sign = experiment.minimize ? 1 : -1;
    const worth = (row) => sign * (column[row] === column[row] ? column[row] : last[row]);
    let kept = [];
    let edge = Infinity;
    for (let i = 0; i < mask.length; i++) {
      if (!mask[i] || !(worth(i) < edge)) continue;
      kept.push(i);
      if (kept.length < 4 * most) continue;
      kept = kept.sort((a, b) => worth(a) - worth(b)).slice(0, most);
      edge = worth(kept[most - 1]);
    }
    return kept.sort((a, b) => worth(a) - worth(b)).slice(0, most).map((row) => trial[row]);
  }

  function View({ experiment }) {
    const params = attune.useMemo(() => ({
      best: attune.param("curves.best", "10"), metric: attune.param("curves.metric", ""), y: attune.param("curves.y", "linear"), x: attune.param("curves.x", "linear"),
    }), []);
    const most = Number(params.best.value) || 10;
    // A selection changes with each move of a drag; only the one it ends with is asked for.
    const [trials, setTrials] = attune.useState(null);
    attune.useEffect(() => {
      let timer = 0;
      const stop = attune.effect(() => {
        const mask = experiment.mask.value;
        clearTimeout(timer);
        timer = setTimeout(() => setTrials(mask ? bestSelected(experiment, mask, most).join() : null), mask ? 250 : 0);
      });
      return () => (stop(), clearTimeout(timer));
    }, [experiment, most]);
    const metric = params.metric.value ? "&metric=" + encodeURIComponent(params.metric.value) : "";
    const which = trials === null ? "best=" + most : "trials=" + trials + "&best=0";
    const root = attune.useRef();
    const answer = plot.useAnswer(experiment, experiment.path + "/curves?" + which + "&band=1" + metric, root);
    const { value, busy } = answer.value;
    const of = (name, which) => attune.text(name, 60) + " of " + which;
    const lines = [];
    if (value?.band) {
      const { steps, low, middle, high } = value.band;
      lines.push({ name: "middle of " + attune.count(value.of), color: "c7", xs: steps, ys: middle, band: { low, high }, width: 1.5 });
    }
    (value?.curves || []).forEach(({ trial, steps, values }, i) => {
      lines.push({ name: "trial " + trial, color: palette[i % 7], xs: steps, ys: values, trial, width: i < 3 ? 2 : 1.25, dots: steps.length < 2 });
    });
    const options = [["5", "5"], ["10", "10"], ["20", "20"], ["50", "50"]];
    const tools = html`<${plot.Choice} label=${trials === null ? "best" : "best of selected"} param=${params.best} options=${options} />
      ${experiment.metrics.length > 1 && html`<${plot.Choice} label="metric" param=${params.metric} options=${[["", experiment.metrics[0].metric], ...experiment.metrics.slice(1).map(({ metric }) => [metric, metric])]} />`}
      <${plot.Choice} label="scale" param=${params.y} options=${[["linear", "linear"], ["log", "logarithmic"]]} />`;
    return html`<div ref=${root}><${plot.Lines} name="curves" experiment=${experiment} height=${300} x="step" y=${value?.metric || "result"} yKind=${params.y.value} lines=${lines} tools=${tools}
      legend=${lines.slice(0, 4)} waits=${busy} note=${busy ? "The curves are on their way." : "No trial has reported intermediate results."}
      label=${"Learning curves of " + (value?.curves.length || 0) + " trials" + (value?.band ? " and the band of " + value.of + " trials." : ".")} />
      <${plot.Problem} state=${answer} />
      ${value && html`<${plot.Other} given=${of(value.metric, "the best " + value.best)} asked=${of(params.metric.value || value.metric, trials === null ? "the best " + most : "the selected trials")} />`}</div>`;
  }

  attune.panels.curves = { title: "Learning curves", needs: () => true, View };
})();
