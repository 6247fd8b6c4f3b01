// Small controls of panels, whose values live in the address, and words about trials.
//   html`<${attune.plot.Choice} label param=${attune.param(key, fallback)} options=${[[value, text]…]} />`
//   html`<${attune.plot.Check} label param />`: "1" or ""
//   attune.plot.describe(experiment, row, extra) -> lines for a tooltip
//   attune.plot.pixelsOf(x, xs, y, ys, count, store);  valueScale(kind, [low, high]);  fitted(column, count, minimize)
//   attune.plot.useAnswer(experiment, path, ref) -> signal of what the server computes
//   attune.plot.rowsOf(experiment, columns, keep?) -> rows for CSV: head and one row per trial
//   attune.plot.exactly(experiment, column) -> row -> cell for CSV;  heading(column)
(function () {
  "use strict";
  const { plot, html } = attune;

  plot.Choice = ({ label, param, options }) => html`<label>${label}
    <select value=${param.value} onChange=${(event) => param.set(event.target.value)}>
      ${options.map(([value, text]) => html`<option key=${value} value=${value} selected=${value === param.value}>${attune.text(text, 60)}</option>`)}
    </select></label>`;

  plot.Check = ({ label, param }) => html`<label>
    <input type="checkbox" checked=${param.value === "1"} onChange=${(event) => param.set(event.target.checked ? "1" : "")} /> ${label}</label>`;

  plot.metricOptions = (experiment) => experiment.metrics.map(({ metric }, i) => [String(i), metric]);
  plot.parameterOptions = (experiment) => experiment.space.map(({ name }) => [name, name]);

  plot.describe = function (experiment, row, extra = []) {
    const at = (name) => experiment.column(name)?.[row];
    const lines = ["trial " + at("trial") + ", " + attune.statusNames[at("status")], ...extra];
    let scored = false;
    for (const { metric } of experiment.metrics) {
      const value = at("m:" + metric);
      if (value !== value) continue;
      lines.push(attune.text(metric, 40) + " " + attune.number(value));
      scored = true;
    }
    const last = at("last");
    if (!scored && last === last) lines.push("latest report " + attune.number(last));
    if (at("violation") > 0) lines.push("breaks a limit by " + attune.number(at("violation")));
    experiment.space.slice(0, 8).forEach(({ name }, i) => {
      const value = at("p:" + name);
      if (value === value && value !== undefined) lines.push(attune.text(name, 40) + " = " + attune.text(experiment.text(i, value), 60));
    });
    if (experiment.space.length > 8) lines.push("and others");
    return lines;
  };

  // Floats have 24 bits: 0.1 has become 0.10000000149.
  const short = (value) => (value === value ? Number(value.toPrecision(7)) : NaN);

  // What a CSV holds of a column in a row: all of it, while what is shown is shortened for the eye.
  plot.exactly = function (experiment, column) {
    const array = experiment.column(column);
    if (!array) return () => "";
    const entry = experiment.space.find(({ name }) => "p:" + name === column);
    if (entry?.kind === "subset") return (row) => (array[row] === array[row] ? attune.subsetOf(entry, array[row]).join(" + ") : "");
    const choices = column === "status" ? attune.statuses : attune.choicesOf(experiment, column);
    if (choices) return (row) => choices[array[row]] ?? "";
    return array instanceof Float32Array ? (row) => short(array[row]) : (row) => array[row];
  };

  plot.heading = (column) => column.replace(/^[mp]:/, "");

  plot.rowsOf = function (experiment, columns, keep = () => true) {
    const mask = experiment.mask.peek();
    const cells = columns.map((name) => plot.exactly(experiment, name));
    const rows = [columns.map(plot.heading)];
    for (let i = 0; i < experiment.count; i++) if ((!mask || mask[i]) && keep(i)) rows.push(cells.map((cell) => cell(i)));
    return rows;
  };

  // The pixels of all rows, in the arrays of a store: {px, py}.
  plot.pixelsOf = (x, xs, y, ys, count, store) => ({
    px: x.map(xs, count, plot.room(store, "px", Float32Array, count)),
    py: y.map(ys, count, plot.room(store, "py", Float32Array, count)),
  });

  // A scale over given values: logarithmic only where all are above 0.
  plot.valueScale = function (kind, [low, high], options) {
    return new plot.Scale(kind === "log" && low > 0 ? "log" : "linear", low, high, options).padded();
  };

  // [low, high] without the far tail on the bad side: one diverged trial must not flatten all others.
  plot.fitted = function (column, count, minimize) {
    const all = plot.extent(column, count);
    if (!all) return null;
    const [low, q5, q95, high] = plot.quantiles(column, count, [0, 0.05, 0.95, 1]);
    if (minimize && all[1] - q95 > q95 - all[0]) return [all[0], q95 + 0.1 * (q95 - all[0])];
    if (!minimize && q5 - all[0] > all[1] - q5) return [q5 - 0.1 * (all[1] - q5), all[1]];
    return [Math.min(all[0], low), Math.max(all[1], high)];
  };

  function inSight(element) {
    if (!element || document.hidden) return false;
    const { top, bottom, height } = element.getBoundingClientRect();
    return height > 0 && bottom > 0 && top < innerHeight;
  }

  // What the server computes for a path: a signal {value: JSON or null, problem: text, busy}. It is asked for now, and
  // again when the experiment has changed, but only while the element of the ref is in sight, not within 2 s, and for
  // at most a tenth of the time: a model of many trials takes the server a while.
  plot.useAnswer = function (experiment, path, ref) {
    const state = attune.useSignal({ value: null, problem: "", busy: true });
    attune.useEffect(() => {
      const ended = new AbortController();
      let timer = 0;
      let seen = -1;
      async function ask() {
        seen = experiment.version.peek();
        state.value = { ...state.peek(), busy: true };
        const begun = performance.now();
        try {
          state.value = { value: await attune.net.get(path, ended.signal), problem: "", busy: false };
        } catch (error) {
          if (error.name !== "AbortError") state.value = { value: null, problem: error.message, busy: false };
        }
        later(Math.max(2000, 10 * (performance.now() - begun)));
      }
      function later(wait) {
        if (ended.signal.aborted || attune.net.isReport) return;
        timer = setTimeout(() => {
          if (experiment.version.peek() !== seen && inSight(ref.current)) ask();
          else later(2000);
        }, wait);
      }
      ask();
      return () => {
        clearTimeout(timer);
        ended.abort();
      };
    }, [path, experiment]);
    return state;
  };

  // A report holds a few of the answers that a server can give: says so when this is another than was asked for.
  plot.Other = ({ given, asked }) => attune.net.isReport && given !== asked &&
    html`<p class="notice">This report holds ${given}, not ${asked}. Run attune dashboard to see it.</p>`;

  // Says that a picture does not follow the filters, while there are some.
  plot.Whole = ({ experiment }) => (experiment.filters.value.length ? html`<p class="quiet">This is computed from all trials, whatever is selected.</p>` : null);

  plot.Problem = ({ state }) => (state.value.problem ? html`<p class="quiet" role="status">${state.value.problem}</p>` : null);
})();
