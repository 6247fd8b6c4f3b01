// The page of one trial: parameters beside those of the best, attempts, reports, decisions, checkpoints, output, files.
(function () {
  "use strict";
  const { html, h, net, flat, useEffect, useMemo, useState } = attune;

  function difference(value, best) {
    if (best === undefined) return "the best has none";
    // As text, since the columns of a report know a choice by its text alone.
    if (JSON.stringify(value) === JSON.stringify(best) || attune.text(value) === attune.text(best)) return "same";
    if (typeof value !== "number" || typeof best !== "number") return "differs";
    const change = value - best;
    const share = best ? " (× " + attune.number(value / best, 3) + ")" : "";
    return (change > 0 ? "+" : "") + attune.number(change) + share;
  }

  function Parameters({ trial, best, number }) {
    const others = new Map(flat(best && best.parameters));
    const itself = best && attune.trialNumber(best.trial_job_id) === number;
    const compare = best && !itself;
    const columns = ["Parameter", "#Value", ...(compare ? ["#Best", "#Difference to the best"] : [])];
    return html`<${attune.Table} caption="Parameters" columns=${columns} rows=${flat(trial.parameters).map(([name, value]) => [
      attune.text(name, 100), attune.text(value), ...(compare ? [others.has(name) ? attune.text(others.get(name)) : "–", difference(value, others.get(name))] : []),
    ])} />${itself && html`<p class="good">This is the best trial.</p>`}`;
  }

  const report = (one) => [
    one.report, one.attempt, attune.moment(one.time), attune.number(one.score),
    one.late ? "late" : attune.text(one.ignored || "", 100), html`<code>${attune.text(one.text, 300)}</code>`,
  ];

  function Reports({ trial, experiment }) {
    const list = trial.report_list;
    const attempts = [...new Set(list.map((one) => one.attempt))];
    const lines = attempts.map((attempt, i) => {
      const own = list.filter((one) => one.attempt === attempt && one.score !== null && one.type.toLowerCase() === "periodical");
      return { name: "attempt " + attempt, color: "c" + (i % 8), xs: own.map((one) => one.sequence + 1), ys: own.map((one) => one.score), dots: true };
    }).filter((one) => one.xs.length);
    const metric = experiment.metrics[0] ? experiment.metrics[0].metric : "score";
    const lost = list.filter((one) => one.late || one.ignored).length;
    const values = lines.length ? lines.at(-1).ys : [];
    return html`<div>
      <${attune.plot.Lines} name=${"trial-" + trial.sequence + "-reports"} lines=${lines} x="report" y=${attune.text(metric, 40)} note="No reports with a score"
        label=${"The reports of this trial, " + values.length + " values, the last " + attune.number(values.at(-1)) + "."} />
      ${lost > 0 && html`<p class="quiet">${lost} reports did not count: they came late or were not needed.</p>`}
      <details><summary>The newest reports as text</summary>
        <${attune.Table} caption="Reports" columns=${["#Report", "#Attempt", "Time", "#Score", "Did not count", "Text"]}
          rows=${list.slice(-100).reverse().map(report)} />
      </details></div>`;
  }

  function Log({ path, running }) {
    const stream = attune.param("log", "stdout");
    const [answer, setAnswer] = useState(null);
    const [problem, setProblem] = useState("");
    const which = stream.value;
    const load = () => net.get(path + "/log?stream=" + which + "&bytes=65536").then((text) => {
      setAnswer(text);
      setProblem("");
    }, (error) => setProblem(error.message));
    attune.useTimer(load, running ? 2 : 3600, [path, which, running]);
    const box = attune.useRef();
    // A log that was scrolled to its end stays there when lines come.
    const atEnd = attune.useRef(true);
    const scrolled = ({ target }) => (atEnd.current = target.scrollTop + target.clientHeight >= target.scrollHeight - 5);
    attune.useLayoutEffect(() => {
      if (box.current && atEnd.current) box.current.scrollTop = box.current.scrollHeight;
    });
    return html`<div>
      <div class="row" role="group" aria-label="Stream">${["stdout", "stderr"].map((one) => html`<button key=${one} aria-pressed=${one === which} onClick=${() => stream.set(one)}>${one}</button>`)}
        ${running && html`<span class="quiet">follows while the trial runs</span>`}</div>
      ${problem ? html`<p class="quiet">${problem}</p>` : answer && html`
        ${answer.left_out_bytes > 0 && html`<p class="quiet">${attune.bytes(answer.left_out_bytes)} before this are left out.</p>`}
        <pre ref=${box} tabindex="0" aria-label=${which} onScroll=${scrolled}>${answer.text || "(empty)"}</pre>`}
    </div>`;
  }

  function Files({ path, version }) {
    const [files, setFiles] = useState(null);
    const [problem, setProblem] = useState("");
    useEffect(() => {
      net.get(path + "/files").then((answer) => setFiles(answer.files), (error) => setProblem(error.message));
    }, [path, version]);
    if (!files) return html`<p class="quiet">${problem || "Loading…"}</p>`;
    if (!files.length) return html`<p class="quiet">The trial's folder has no files.</p>`;
    const download = (name) => net.bytes(path + "/files/" + encodeURIComponent(name)).then(
      (bytes) => attune.save(name, new Blob([bytes])), (error) => attune.say(error.message, true));
    return html`<${attune.Table} caption="Files" columns=${["Name", "#Size", "Changed"]}
      rows=${files.map((one) => [html`<button onClick=${() => download(one.name)}>${attune.text(one.name)}</button>`, attune.bytes(one.bytes), attune.moment(one.modified)])} />`;
  }


  function attempt(one) {
    const ending = [one.ending, one.detail].filter((text) => text).map((text) => attune.text(text, 300)).join(": ");
    const where = [one.worker, one.host].filter((text) => text).join(" on ");
    return [
      one.attempt, attune.moment(one.started), attune.duration(attune.elapsed(one.started, one.ended)),
      html`<span class=${one.ending === "failed" ? "bad" : ""}>${ending || "runs"}</span>`, attune.text(where || "–", 80),
      attune.duration(one.cpu_seconds), one.max_rss ? attune.bytes(one.max_rss) : "–", attune.text(one.from_checkpoint || "–", 60),
    ];
  }

  const checkpoint = (one) => [
    attune.text(one.checkpoint, 60), one.attempt, attune.text(one.state, 40), attune.bytes(one.bytes),
    attune.moment(one.saved), attune.moment(one.dropped), attune.text(one.error || "", 200),
  ];

  function Result({ final }) {
    if (typeof final !== "object") return html`<p>${attune.text(final)}</p>`;
    return list("Metrics", Object.entries(final), ["Metric", "#Value"], ([name, value]) => [attune.text(name, 80), attune.text(value)]);
  }

  // A table, or false without rows.
  function list(caption, entries, columns, row) {
    return entries.length > 0 && html`<${attune.Table} caption=${caption} columns=${columns} rows=${entries.map(row)} />`;
  }

  // The parts of the page: [heading, content]; those without content are left out.
  function sections(trial, experiment, path) {
    const best = experiment.info.value && experiment.info.value.best;
    // A trial that was simulated, or waits for its first attempt, has no folder.
    const printed = !net.isReport && trial.attempt_list.length > 0 && !attune.isVirtual(trial.started);
    return [
      ["Parameters", html`<${Parameters} trial=${trial} best=${best} number=${trial.sequence} />
        ${trial.parameter_list.length > 1 && html`<p class="quiet">The tuner gave ${trial.parameter_list.length} configurations to this trial; this is the newest.</p>`}`],
      ["Reports", trial.report_list.length > 0 && h(Reports, { trial, experiment })],
      ["Result", trial.final !== null && h(Result, trial)],
      ["Decisions", list("Decisions", trial.decision_list, ["Time", "Decision", "By", "Reason"],
        (one) => [attune.moment(one.time), attune.text(one.action, 60), attune.text(one.by, 60), attune.text(one.reason, 1000)])],
      ["Attempts", list("Attempts", trial.attempt_list,
        ["#Attempt", "Began", "#Took", "Ended", "Worker", "#Processor time", "#Memory", "From checkpoint"], attempt)],
      ["Checkpoints", list("Checkpoints", trial.checkpoint_list,
        ["Checkpoint", "#Attempt", "State", "#Size", "Saved", "Dropped", "Error"], checkpoint)],
      ["Output", printed && h(Log, { path, running: trial.status === "running" })],
      ["Files", printed && h(Files, { path, version: trial.status })],
      ["Events", list("Events", trial.event_list, ["Time", "Kind", "What happened"],
        (one) => [attune.moment(one.time), attune.text(one.kind, 40), attune.text(one.text, 500)])],
    ].filter(([, content]) => content);
  }

  // What the columns tell of a trial, for reports, which hold the whole story of few trials.
  function fromColumns(experiment, number) {
    const row = experiment.rowOf(number);
    if (row < 0) return null;
    const value = (name) => {
      const found = (experiment.column(name) || [])[row];
      return found === undefined || Number.isNaN(found) ? null : found;
    };
    const time = (name) => (value(name) === null ? null : experiment.started + value(name));
    const parameters = experiment.space.map((one, i) => [one.name.replace(/\[\d+\]/g, ""), value("p:" + one.name), i]).filter((one) => one[1] !== null);
    const final = Object.fromEntries(experiment.metrics.map((one) => [one.metric, value("m:" + one.metric)]).filter((one) => one[1] !== null));
    const list = { attempt_list: [], parameter_list: [], report_list: [], decision_list: [], checkpoint_list: [], event_list: [] };
    return {
      ...list, sequence: number, status: attune.statuses[value("status")], reason: "", source: attune.sources[value("source")],
      parameters: Object.fromEntries(parameters.map(([name, own, i]) => [name, experiment.space[i].choices ? experiment.text(i, own) : own])),
      score: value(experiment.score), final: Object.keys(final).length ? final : null, reports: value("reports"), started: time("started"), ended: time("ended"),
    };
  }

  // Follows the trial: its row among the columns changes when it does.
  function useTrial(experiment, number, path) {
    const [trial, setTrial] = useState(null);
    const [problem, setProblem] = useState("");
    useEffect(() => {
      let known = null;
      let timer = 0;
      const load = () => {
        timer = 0;
        net.get(path).then(setTrial, (error) => {
          const known = net.isReport ? fromColumns(experiment, number) : null;
          if (known) setTrial(known);
          else setProblem(error.message);
        });
      };
      const end = attune.effect(() => {
        experiment.version.value;
        const row = experiment.rowOf(number);
        const now = row < 0 ? "" : ["status", "reports", "started", "ended"].map((name) => experiment.column(name)[row]).join();
        if (now === known) return;
        if (known === null) load();
        else if (!timer) timer = setTimeout(load, 500);
        known = now;
      });
      return () => {
        clearTimeout(timer);
        end();
      };
    }, [path]);
    return [trial, problem];
  }

  const sources = { algorithm: "tuner", customized: "user", initial: "initial point" };
  const broad = new Set(["Attempts", "Output"]);

  attune.pages.Trial = function ({ id, number }) {
    const experiment = attune.openExperiment(id);
    const path = experiment.path + "/trials/" + number;
    const [trial, problem] = useTrial(experiment, number, path);
    useEffect(() => {
      document.title = "Trial " + number + " – attune";
    }, []);
    const info = experiment.info.value;
    if (info) attune.nameExperiment(id, info.name);
    if (!trial) return problem ? html`<h1>Trial ${number}</h1><p class="notice bad" role="alert">${problem}</p>` : html`<p class="quiet">Loading…</p>`;
    const to = (other) => attune.trialAddress(id, other);
    const took = attune.elapsed(trial.started, trial.ended);
    return html`<div class="stack">
      <div class="row spread"><div class="row"><h1>Trial ${number}</h1> <${attune.TrialState} status=${trial.status} /></div>
        <div class="row">${number > 0 && html`<a href=${to(number - 1)}>← ${number - 1}</a>`}
          ${(experiment.version.value, number + 1 < experiment.total) && html`<a href=${to(number + 1)}>${number + 1} →</a>`}
          ${!net.session.value.readOnly && info && h(attune.TrialActions, { experiment, trial })}</div></div>
      ${trial.reason && html`<p>${attune.text(trial.reason, 1000)}</p>`}
      <${attune.Facts} facts=${[
        ["Score", attune.number(trial.score)],
        ["Best", info && info.best ? html`<a href=${to(attune.trialNumber(info.best.trial_job_id))}>${attune.number(info.best.score)}</a>` : null],
        ["Source", sources[trial.source] || attune.text(trial.source, 40)],
        ["Began", attune.moment(trial.started)], ["Took", took === null ? null : attune.duration(took)],
        ["Attempts", trial.attempts ?? null], ["Failures", trial.failures || null], ["Reports", attune.count(trial.reports)],
      ]} />
      <p class="hidden-text" role="status" aria-live="polite">Trial ${number}: ${trial.status}</p>
      <div class="panels">${sections(trial, experiment, path).map(([title, content]) => html`
        <section key=${title} class=${"panel" + (broad.has(title) ? " wide" : "")} aria-label=${title}>
          <header><h2>${title}</h2></header><div class="body"><${attune.Guard}>${content}<//></div></section>`)}</div>
    </div>`;
  };
})();
