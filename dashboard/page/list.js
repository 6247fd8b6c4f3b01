// The page of all experiments: state, best, rate, remaining time, failures; a search; and a choice to compare.
(function () {
  "use strict";
  const { html, net, useEffect, useState } = attune;

  const known = new Map();  // names by id, for the path in the heading
  const names = attune.signal(0);
  attune.titleOf = (id) => (names.value, known.get(id) || id);
  attune.nameExperiment = function (id, name) {
    if (known.get(id) === name) return;
    known.set(id, name);
    names.value++;
  };

  function Row({ experiment, chosen, choose }) {
    const { trials, best } = experiment;
    const rate = attune.rate(experiment);
    const remaining = attune.remaining(experiment);
    const id = experiment.experiment_id;
    return html`<tr class=${chosen ? "selected" : ""}>
      <td><input type="checkbox" checked=${chosen} onChange=${choose} aria-label=${"Choose " + attune.text(experiment.name, 60) + " to compare"} /></td>
      <th scope="row"><a href=${attune.address(["e", id])}>${attune.text(experiment.name || id, 80)}</a><br /><span class="quiet">${attune.text(id, 40)}</span></th>
      <td><${attune.State} experiment=${experiment} /></td>
      <td class="number">${best ? html`<a href=${attune.trialAddress(id, attune.trialNumber(best.trial_job_id))}>${attune.number(best.score)}</a>` : "–"}
        <br /><span class="quiet">${attune.text(experiment.objective, 30)} ${attune.arrow(experiment.optimize_mode)}
          ${experiment.trade_off_count ? ", " + attune.count(experiment.trade_off_count) + " trade-offs" : ""}</span></td>
      <td class="number">${attune.count(attune.ended(trials))}${trials.running ? html`<br /><span class="quiet">${attune.count(trials.running)} running</span>` : ""}</td>
      <td class="number">${rate === null ? "–" : attune.number(rate, 3) + " / h"}</td>
      <td class="number">${remaining === null ? "–" : attune.duration(remaining)}</td>
      <td class=${"number" + (trials.failed ? " bad" : "")}>${attune.count(trials.failed)}</td>
      <td class="number">${attune.moment(experiment.started)}</td>
    </tr>`;
  }

  attune.pages.List = function () {
    const [answer, setAnswer] = useState(null);
    const [problem, setProblem] = useState("");
    const [chosen, setChosen] = useState(() => new Set());
    const search = attune.route.value.query.get("q") || "";
    const take = (data) => {
      setAnswer(data);
      for (const experiment of data.experiments) attune.nameExperiment(experiment.experiment_id, experiment.name);
    };
    useEffect(() => {
      document.title = "Experiments – attune";
      net.get("/experiments").then(take, (error) => setProblem(error.message));
      return net.stream(null, (name, data) => {
        setProblem(name === "failure" ? data.error : "");
        if (name !== "failure") take(data);
      });
    }, []);
    if (!answer) return html`<h1>Experiments</h1>${problem ? html`<p class="notice bad">${problem}</p>` : html`<p class="quiet">Loading…</p>`}`;

    const words = search.toLowerCase().split(/\s+/);
    const shown = answer.experiments.filter((one) => {
      const text = [one.name, one.experiment_id, one.status, one.objective].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    shown.sort((a, b) => (b.status === "running") - (a.status === "running") || b.started - a.started);
    const choose = (id) => () => {
      const next = new Set(chosen);
      if (!next.delete(id)) next.add(id);
      setChosen(next);
    };
    const compare = () => (location.hash = attune.address(["compare"], { e: [...chosen].join(",") }));
    const running = answer.experiments.filter((one) => one.status === "running").length;
    return html`<div class="stack">
      <div class="row spread"><h1>Experiments</h1>
        <div class="row">
          <label class="row">Search <input type="search" data-search value=${search} onInput=${(event) => attune.setQuery({ q: event.target.value })} /></label>
          <button disabled=${chosen.size < 2} onClick=${compare}>Compare ${chosen.size > 1 ? chosen.size : "two or more"}</button>
        </div>
      </div>
      ${problem && html`<p class="notice bad" role="alert">${problem}</p>`}
      <p role="status">${answer.experiments.length} experiments, ${running} running${search ? ", " + shown.length + " found" : ""}.</p>
      ${shown.length ? html`<div class="scroll" tabindex="0" role="region" aria-label="Experiments"><table>
        <caption class="hidden-text">Experiments</caption>
        <thead><tr><th scope="col"><span class="hidden-text">Choose</span></th><th scope="col">Name</th><th scope="col">State</th>
          ${["Best", "Trials ended", "Rate", "Remaining", "Failed", "Began"].map((name) => html`<th key=${name} scope="col" class="number">${name}</th>`)}</tr></thead>
        <tbody>${shown.slice(0, 1000).map((one) => html`<${Row} key=${one.experiment_id} experiment=${one} chosen=${chosen.has(one.experiment_id)} choose=${choose(one.experiment_id)} />`)}</tbody>
      </table></div>` : html`<p class="notice">${search ? "No experiment is found." : "There is no experiment here yet. Start one with attune run or attune simulate."}</p>`}
      ${shown.length > 1000 && html`<p class="quiet">Only the first 1,000 are shown. Search for more.</p>`}
      ${(answer.problems || []).map((one) => html`<p class="notice bad" key=${one.path}><code>${attune.text(one.path)}</code>: ${attune.text(one.error, 500)}</p>`)}
    </div>`;
  };
})();
