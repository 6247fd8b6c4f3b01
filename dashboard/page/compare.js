// Two or more experiments side by side: the best so far over trials and over time, and how each ended.
(function () {
  "use strict";
  const { html, h, net, useEffect, useMemo } = attune;

  // The steps at which the best so far improved, with the end: {trials, seconds, scores}. Trials count when they end.
  function improvements(experiment) {
    const scores = experiment.column(experiment.score);
    const found = { trials: [], seconds: [], scores: [] };
    if (!scores) return found;
    const ended = experiment.column("ended");
    const violation = experiment.column("violation");
    const order = attune.sortedRows(ended, experiment.count, false);
    let best = NaN;
    let number = 0;
    let last = 0;
    for (const row of order) {
      if (Number.isNaN(ended[row])) break;  // these come last
      number++;
      last = ended[row];
      const score = scores[row];
      if (Number.isNaN(score) || !(violation[row] <= 0)) continue;  // NaN: a limited metric is missing
      if (!(Number.isNaN(best) || (experiment.minimize ? score < best : score > best))) continue;
      best = score;
      found.trials.push(number);
      found.seconds.push(last);
      found.scores.push(best);
    }
    if (found.scores.length && found.trials.at(-1) < number) {
      found.trials.push(number);
      found.seconds.push(last);
      found.scores.push(best);
    }
    return found;
  }

  // Several experiments share one stream: a browser opens only six connections to a server.
  function useExperiments(ids) {
    const key = ids.join("\n");
    const experiments = useMemo(() => ids.map((id) => new attune.Experiment(id, false)), [key]);
    useEffect(() => {
      const stop = net.stream(null, (name, data) => {
        if (name === "failure") return;  // the next event may tell all
        for (const experiment of experiments) {
          const now = data.experiments.find((one) => one.experiment_id === experiment.id);
          if (now && (now.status === "running" || now.status !== experiment.info.peek()?.status)) experiment.update(now);
        }
      });
      return () => {
        stop();
        for (const experiment of experiments) experiment.close();
      };
    }, [experiments]);
    return experiments;
  }

  attune.pages.Compare = function () {
    const ids = (attune.route.value.query.get("e") || "").split(",").filter((id) => id).slice(0, 8);
    const experiments = useExperiments(ids);
    useEffect(() => {
      document.title = "Compare – attune";
    }, []);
    const ready = experiments.filter((one) => one.info.value);
    const curves = ready.map((one) => (one.version.value, one.loading.value, improvements(one)));
    const title = (one) => attune.text(one.info.value.name || one.id, 60);
    const lines = (xs) => ready.map((one, i) => ({ name: title(one), color: "c" + (i % 8), xs: curves[i][xs], ys: curves[i].scores, step: true }));
    const metrics = [...new Set(ready.map((one) => one.metrics[0]?.metric))];
    const y = attune.text(metrics.join(", "), 40);
    const loading = experiments.some((one) => one.loading.value && !one.problem.value);
    const label = "The best score so far of " + ready.map((one, i) => title(one) + ", which ends at " + attune.number(curves[i].scores.at(-1))).join("; ") + ".";
    const common = { label, y, note: "No results yet" };
    const row = (one, i) => {
      const info = one.info.value;
      const best = info.best && attune.trialNumber(info.best.trial_job_id);
      const at = curves[i].scores.length - 1 - (curves[i].scores.at(-1) === curves[i].scores.at(-2));
      return [
        html`<a href=${attune.address(["e", one.id])}>${title(one)}</a>`, html`<${attune.State} experiment=${info} />`,
        info.best ? html`<a href=${attune.trialAddress(one.id, best)}>${attune.number(info.best.score)}</a>` : "–",
        attune.text(one.metrics[0]?.metric, 40) + (one.minimize ? " ↓" : " ↑"),
        attune.count(curves[i].trials[at]), attune.duration(curves[i].seconds[at]),
        attune.count(attune.ended(info.trials)), attune.count(info.trials.failed), info.concurrency ?? "–", attune.text(info.tuner || "–", 60),
      ];
    };
    return html`<div class="stack"><h1>Compare</h1>
      ${ids.length < 2 && html`<p class="notice">Choose two or more experiments in <a href="#/">the list</a>.</p>`}
      ${loading && html`<p class="quiet" role="status">Loading…</p>`}
      ${experiments.filter((one) => one.problem.value).map((one) => html`<p class="notice bad" key=${one.id}>${attune.text(one.id, 60)}: ${one.problem.value}</p>`)}
      ${metrics.length > 1 && html`<p class="notice">These experiments have different first metrics: ${y}. Their curves cannot be compared by height.</p>`}
      ${ready.length > 0 && html`
        <div class="panels">
          <${attune.Panel} title="Best so far over trials">${() => h(attune.plot.Lines, {
            ...common, name: "compare-trials", lines: lines("trials"), x: "trials that ended" })}<//>
          <${attune.Panel} title="Best so far over time">${() => h(attune.plot.Lines, {
            ...common, name: "compare-time", lines: lines("seconds"), xKind: "time", x: "time since the beginning" })}<//>
        </div>
        <${attune.Table} caption="Final bests" rows=${ready.map(row)}
          columns=${["Experiment", "State", "#Best", "Metric", "#After trials", "#After", "#Trials ended", "#Failed", "#Runs at once", "Tuner"]} />`}
    </div>`;
  };
})();
