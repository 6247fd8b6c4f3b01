// The page of one experiment: how it goes, what runs and what waits, actions, filters, panels.
(function () {
  "use strict";
  const { html, h, net, useEffect, useMemo, useState } = attune;
  const order = ["history", "front", "curves", "importance", "parallel", "slices", "timeline"];
  const wide = new Set(["parallel", "timeline"]);

  function bestText({ best, objective }) {
    return best ? attune.text(objective, 40) + " " + attune.number(best.score) + " by trial " + attune.trialNumber(best.trial_job_id) : "no result yet";
  }

  function tally({ trials }) {
    const parts = ["running", "pending", "paused", "succeeded", "early_stopped", "failed", "user_canceled"].filter((key) => trials[key] > 0);
    const waiting = trials.waiting ? " (" + attune.count(trials.waiting) + " wait for room)" : "";  // they count as running
    const text = (key) => attune.statusNames[attune.statuses.indexOf(key)] + (key === "running" ? waiting : "");
    return parts.map((key) => attune.count(trials[key]) + " " + text(key)).join(", ") || "none yet";
  }

  function Head({ experiment }) {
    const info = experiment.info.value;
    const rate = attune.rate(info);
    const remaining = attune.remaining(info);
    const ended = attune.ended(info.trials);
    const best = info.best && attune.trialNumber(info.best.trial_job_id);
    const leader = html`<a href=${attune.trialAddress(experiment.id, best)}>${attune.number(info.best && info.best.score)}</a>
      ${" "}(${attune.text(info.objective, 40)} ${attune.arrow(info.optimize_mode)}, trial ${best})`;
    return html`<div>
      <div class="row spread"><div class="row"><h1>${attune.text(info.name || info.experiment_id, 120)}</h1> <${attune.State} experiment=${info} />
        ${!experiment.connected.value && html`<span class="badge warn">connection lost, trying again</span>`}</div>
        ${!net.session.value.readOnly && h(attune.Actions, { experiment })}</div>
      ${info.reason && html`<p class="quiet">${attune.text(info.reason, 500)}</p>`}
      <${attune.Facts} facts=${[
        ["Best", info.best ? leader : "no result yet"],
        ["Trade-offs", info.trade_off_count ? attune.count(info.trade_off_count) : null],
        ["Trials", tally(info)],
        ["Rate", rate === null ? null : attune.number(rate, 3) + " per hour"],
        ["Took", attune.duration(info.seconds)],
        ["Remaining", remaining === null ? null : "about " + attune.duration(remaining)],
        ["Runs at once", info.concurrency],
        ["Limits", [info.max_trials && attune.count(info.max_trials) + " trials", info.max_seconds && attune.duration(info.max_seconds)].filter((one) => one).join(", ") || null],
        ["Tuner", info.tuner ? attune.text(info.tuner, 80) : null],
        ["Began", attune.moment(info.started)],
      ]} />
      ${info.max_trials > 0 && info.status === "running" && html`<progress max=${info.max_trials} value=${ended} aria-label="Trials that ended, of all"></progress>`}
      <p class="hidden-text" role="status" aria-live="polite">${info.status}, best ${bestText(info)}</p>
    </div>`;
  }

  const trialLink = (experiment, trial) => html`<a href=${attune.trialAddress(experiment.id, trial.sequence)}>${attune.text(trial.trial_job_id, 20)}</a>`;

  function Unfinished({ experiment }) {
    const { unfinished, unfinished_count } = experiment.info.value;
    const [all, setAll] = useState(false);
    if (!unfinished || !unfinished.length) return null;
    const shown = all ? unfinished : unfinished.slice(0, 8);
    const { objective } = experiment.info.value;
    const last = ({ last: value }) => {
      const score = value !== null && typeof value === "object" ? value[objective] ?? value.default ?? value : value;
      return score === null || score === "" ? "–" : attune.text(score, 40);
    };
    const row = (trial) => [
      trialLink(experiment, trial), html`<${attune.TrialState} status=${trial.status} />`, attune.text(trial.reason || "", 300),
      trial.reports, last(trial), attune.duration(attune.elapsed(trial.started)),
    ];
    return html`<section aria-label="Trials that run or wait" class="panel">
      <header><h2>Running and waiting</h2><span class="quiet">${attune.trialCount(unfinished_count)}</span></header><div class="body">
      <${attune.Table} caption="Trials that run or wait"
        columns=${["Trial", "State", "Why it waits", "#Reports", "#Newest report", "#Since"]}
        rows=${shown.map(row)} />
      ${unfinished.length > 8 && html`<button aria-expanded=${all} onClick=${() => setAll(!all)}>${all ? "Fewer" : "All " + attune.count(unfinished.length)}</button>`}
    </div></section>`;
  }

  function Failures({ experiment }) {
    const { failure_causes, last_failures, trials } = experiment.info.value;
    if (!trials.failed) return null;
    const causes = failure_causes || [];
    const cause = (one) => [one.detail || one.ending, one.last_line].filter((text) => text).map((text) => attune.text(text, 300)).join(": ");
    const example = (trial) => trialLink(experiment, { trial_job_id: trial, sequence: attune.trialNumber(trial) });
    return html`<section aria-label="Failures" class="panel">
      <header><h2>Failures</h2><span class="bad">${attune.trialCount(trials.failed)} failed</span></header><div class="body">
      <ul>${causes.map((one, i) => html`<li key=${i}>${attune.count(one.count)} × ${cause(one)} (${example(one.trial_job_id)})</li>`)}</ul>
      ${last_failures && last_failures.length > 0 && html`<p>Last: ${last_failures.map((trial, i) => html`${i ? ", " : ""}${trialLink(experiment, trial)}`)}</p>`}
    </div></section>`;
  }

  function Events({ experiment }) {
    const [events, setEvents] = useState(null);
    const load = (event) => event.target.open && net.get(experiment.path + "/events?newest=100").then((answer) => setEvents(answer.events), (error) => attune.say(error.message, true));
    return html`<details onToggle=${load}><summary>Events of the experiment</summary>
      ${events && !events.length && html`<p class="quiet">There are none.</p>`}
      ${events && events.length > 0 && html`<${attune.Table} caption="The newest events" columns=${["Time", "Kind", "What happened"]}
        rows=${events.map((one) => [attune.moment(one.time), attune.text(one.kind, 40), attune.text(one.text, 500)])} />`}
    </details>
    <details><summary>Experiment file</summary><pre>${attune.text(JSON.stringify(experiment.info.value.file ?? null, null, 2), 100000)}</pre></details>`;
  }

  function Panels({ experiment }) {
    // What a panel needs depends on the search space and the metrics, which hardly ever change.
    const space = attune.useComputed(() => (experiment.info.value, experiment.space)).value;
    const names = useMemo(() => {
      const known = Object.keys(attune.panels);
      const sorted = [...order.filter((name) => known.includes(name)), ...known.filter((name) => !order.includes(name))];
      return sorted.filter((name) => attune.panels[name].needs(experiment));
    }, [experiment, space]);
    // The same element each time, so that a change of the address does not draw all panels anew.
    const views = useMemo(() => {
      const all = Object.fromEntries(names.map((name) => [name, h(attune.panels[name].View, { experiment })]));
      return { ...all, table: h(attune.TrialTable, { experiment }) };
    }, [names]);
    const alone = attune.route.value.query.get("panel");
    const some = [...names, "table"].includes(alone);
    return html`<div class="panels">
      ${names.map((name) => (!some || alone === name) && html`<${attune.Panel} key=${name} name=${name}
        title=${attune.panels[name].title} wide=${wide.has(name) || attune.panels[name].wide}>${() => views[name]}<//>`)}
      ${(!some || alone === "table") && html`<${attune.Panel} key="table" name="table" title="Trials" wide=${true} resting=${true}>${() => views.table}<//>`}
    </div>`;
  }

  attune.pages.Experiment = function ({ id }) {
    const experiment = attune.openExperiment(id);
    const ready = attune.useComputed(() => experiment.info.value !== null).value;
    attune.useFiltersInAddress(experiment);
    useEffect(() => {
      attune.shortcuts.best = () => experiment.bestRow.peek() >= 0 && experiment.openTrial(experiment.column("trial")[experiment.bestRow.peek()]);
      attune.shortcuts.clear = () => experiment.clearFilters();
      const end = attune.effect(() => {
        const info = experiment.info.value;
        if (!info) return;
        attune.nameExperiment(id, info.name);
        document.title = attune.text(info.name || id, 60) + " – attune";
      });
      return () => {
        attune.shortcuts = {};
        end();
      };
    }, [experiment]);
    const problem = experiment.problem.value;
    if (!ready) return problem ? html`<h1>Experiment</h1><p class="notice bad" role="alert">${problem}</p>` : html`<p class="quiet">Loading…</p>`;
    return html`<div class="stack">
      <${Head} experiment=${experiment} />
      ${problem && html`<p class="notice bad" role="alert">${problem}</p>`}
      <div class="panels"><${Unfinished} experiment=${experiment} /><${Failures} experiment=${experiment} /></div>
      <${attune.FilterBar} experiment=${experiment} />
      <${Panels} experiment=${experiment} />
      <${Events} experiment=${experiment} />
    </div>`;
  };
})();
