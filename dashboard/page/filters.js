// The filters of an experiment: shown as chips, added with a form, and kept in the address.
(function () {
  "use strict";
  const { html, useEffect, useState } = attune;
  const longest = 2000;  // of one filter in the address; a selection of thousands of trials is not kept there

  const names = { trial: "trial", status: "status", source: "source", reports: "reports", started: "start", ended: "end", worker: "worker", last: "newest report", violation: "violation" };

  // The name of a column for people: "m:loss" -> "loss".
  attune.columnName = (column) => attune.text(names[column] || column.slice(2), 60);

  const parameterOf = (experiment, column) => experiment.space.findIndex((one) => "p:" + one.name === column);

  // The texts of a column whose values are indices; null for numbers.
  attune.choicesOf = function (experiment, column) {
    if (column === "status") return attune.statusNames;
    if (column === "source") return attune.sources;
    if (column === "worker") return experiment.workers;
    const parameter = experiment.space[parameterOf(experiment, column)];
    return parameter && parameter.kind === "choice" ? parameter.choices : null;
  };

  // The value of a column in a row as text.
  attune.cell = function (experiment, column, row) {
    const value = experiment.column(column)?.[row];
    if (value === undefined) return "–";  // the search space is not what it was
    const choices = attune.choicesOf(experiment, column);
    if (choices) return choices[value] === undefined ? "–" : attune.text(choices[value], 60);
    if (column.startsWith("p:")) return experiment.text(parameterOf(experiment, column), value);
    if (column === "started" || column === "ended") return Number.isNaN(value) ? "–" : attune.moment(experiment.started + value);
    return attune.number(value);
  };

  function describe(experiment, filter) {
    const name = attune.columnName(filter.column);
    if (filter.names) return name + ": " + filter.names.map((one) => attune.text(one, 40)).join(", ");
    if (!filter.values) {
      const { low, high } = filter;
      if (low === -Infinity) return name + " ≤ " + attune.number(high);
      if (high === Infinity) return name + " ≥ " + attune.number(low);
      return name + " " + attune.number(low) + " to " + attune.number(high);
    }
    if (filter.values.length > 6) return name + ": " + attune.count(filter.values.length) + " values";
    const choices = attune.choicesOf(experiment, filter.column);
    return name + ": " + filter.values.map((value) => (choices ? attune.text(choices[value], 40) : attune.number(value))).join(", ");
  }

  // As in "p:lr~0.1~0.5", "status~v~3,4" and "worker~n~w1,w2": "~" is in no number and no coded name, and the last two
  // decide, whatever the name of the column contains.
  function written({ column, low, high, values, names }) {
    const coded = (name) => encodeURIComponent(name).replaceAll("~", "%7E");
    const text = names ? column + "~n~" + names.map(coded).join(",") : values ? column + "~v~" + values.join(",") : column + "~" + low + "~" + high;
    return text.length <= longest ? text : null;
  }

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch (error) {
      return text;  // a "%" somebody typed
    }
  }

  function read(text) {
    const parts = text.split("~");
    if (parts.length < 3) return null;
    const high = parts.pop();
    const low = parts.pop();
    const column = parts.join("~");
    if (low === "v") return { column, values: high.split(",").map(Number) };
    if (low === "n") return { column, names: high.split(",").map(decoded) };
    return { column, low: Number(low), high: Number(high) };
  }

  // Takes the filters from the address, and writes them there when they change. Moving a brush changes them with each
  // frame; browsers refuse an address that changes as often, so that waits until the brush rests.
  attune.useFiltersInAddress = function (experiment) {
    useEffect(() => {
      const fromAddress = () => attune.route.peek().query.getAll("f").map(read).filter((one) => one);
      const asText = (filters) => filters.map(written).filter((one) => one).join("\n");
      let timer = 0;
      const stopReading = attune.effect(() => {
        attune.route.value;
        const wanted = fromAddress();
        if (!timer && asText(wanted) !== asText(experiment.filters.peek())) experiment.filters.value = wanted;
      });
      const stopWriting = attune.effect(() => {
        const filters = experiment.filters.value;
        clearTimeout(timer);
        timer = 0;
        // Otherwise an address that is given at once after another one would be written over.
        if (asText(filters) === asText(fromAddress())) return;
        timer = setTimeout(() => {
          timer = 0;
          attune.setQuery({ f: filters.map(written).filter((one) => one) });
        }, 250);
      });
      return () => {
        // The address is that of another page by now.
        if (timer) attune.keepQuery(experiment.id, { f: experiment.filters.peek().map(written).filter((one) => one) });
        clearTimeout(timer);
        stopReading();
        stopWriting();
      };
    }, [experiment]);
  };

  function Form({ experiment, close }) {
    const columns = ["status", ...experiment.metrics.map((one) => "m:" + one.metric), ...experiment.space.map((one) => "p:" + one.name), "trial", "reports",
      ...(experiment.workers.length ? ["worker"] : []), "last", "violation", "source"];
    const [column, setColumn] = useState(columns[0]);
    const choices = attune.choicesOf(experiment, column);
    const old = experiment.filters.peek().find((one) => one.column === column) || {};
    const submit = (event) => {
      event.preventDefault();
      const data = new FormData(event.target);
      const given = (key, none) => (data.get(key) === "" || data.get(key) === null ? none : Number(data.get(key)));
      if (choices) {
        const values = data.getAll("value").map(Number);
        const chosen = column === "worker" ? { names: values.map((i) => experiment.workers[i]) } : { values };
        experiment.setFilter(column, values.length ? chosen : null);
      } else {
        const low = given("low", -Infinity);
        const high = given("high", Infinity);
        experiment.setFilter(column, low === -Infinity && high === Infinity ? null : { low, high });
      }
      close();
    };
    const tick = (text, i) => html`<label key=${i}>
      <input type="checkbox" name="value" value=${i} defaultChecked=${old.values?.includes(i) || old.names?.includes(text)} /> ${attune.text(text, 60)}</label>`;
    const limit = (label, name) => html`<label>${label} ${" "}
      <input name=${name} type="number" step="any" defaultValue=${Number.isFinite(old[name]) ? old[name] : ""} /></label>`;
    return html`<${attune.Dialog} title="Filter the trials" onClose=${close}>
      <form onSubmit=${submit}>
        <label class="row">By <select value=${column} onChange=${(event) => setColumn(event.target.value)}>
          ${columns.map((one) => html`<option key=${one} value=${one}>${attune.columnName(one)}</option>`)}</select></label>
        ${choices ? html`<fieldset class="row" key=${column}><legend>Keep trials with</legend>${choices.slice(0, 200).map(tick)}</fieldset>`
      : html`<div class="row" key=${column}>${limit("From", "low")} ${limit("to", "high")}</div>`}
        <div class="buttons"><button type="button" onClick=${close}>Cancel</button><button class="main">Filter</button></div>
      </form>
    <//>`;
  }

  attune.FilterBar = function ({ experiment }) {
    const [open, setOpen] = useState(false);
    const filters = experiment.filters.value;
    experiment.version.value;
    return html`<div class="row" role="group" aria-label="Filters">
      <button data-search onClick=${() => setOpen(true)}>Filter…</button>
      ${filters.length > 0 && html`
        <ul class="chips">${filters.map((one) => html`<li key=${one.column}>${describe(experiment, one)} ${" "}
          <button aria-label=${"Remove the filter of " + attune.columnName(one.column)} onClick=${() => experiment.setFilter(one.column, null)}>✕</button></li>`)}</ul>
        <button onClick=${() => experiment.clearFilters()}>Remove all</button>`}
      <span class="quiet" role="status">${filters.length ? attune.count(experiment.selectedCount.value) + " of " : ""}
        ${attune.trialCount(experiment.count)}${experiment.loading.value ? ", loading…" : ""}</span>
      ${open && html`<${Form} experiment=${experiment} close=${() => setOpen(false)} />`}
    </div>`;
  };
})();
