// attune.openExperiment(id) -> an experiment with signals, which follows the server until close().
//   info       signal: the JSON of GET /experiments/ID, null until it came
//   version    signal: a number that grows when columns changed
//   loading    signal: true until all trials that existed at the start have come
//   problem    signal: text of the last failure, ""
//   connected  signal: false while the stream is broken
//   count, workers, started, total, runs, column(name), rowOf(trial): see columns.js; started is seconds since 1970
//   space, metrics: arrays of the contract ([] before info);  minimize: of the first metric;  score: its column's name
//   refresh()  asks for info and space anew
//   text(parameter index, value): a parameter's value as text
//   filters    signal: list of {column, low, high}, {column, values: [numbers]} or, by worker, {column, names: [texts]}:
//              all have to hold
//   setFilter(column, filter without column, or null);  clearFilters()
//   mask       signal: Uint8Array, 1 for each row that all filters select, or null without filters
//   selectedCount  signal;  hover  signal: number of the trial under the pointer, or null
//   bestRow    signal: the row with the best score that keeps all limits, -1
(function () {
  "use strict";
  const { signal, computed, batch, net } = attune;
  const pageRows = 65536;
  const mostChoices = 1000;  // the server names no more of a parameter

  function applyRange(mask, column, count, low, high) {
    // 0.01 as a float is less than 0.01; a range from 0.01 has to contain it.
    if (column instanceof Float32Array) [low, high] = [Math.fround(low), Math.fround(high)];
    for (let i = 0; i < count; i++) if (!(column[i] >= low && column[i] <= high)) mask[i] = 0;
  }

  function applyValues(mask, column, count, values) {
    const set = new Set(values);
    for (let i = 0; i < count; i++) if (mask[i] && !set.has(column[i])) mask[i] = 0;
  }

  function maskOf(columns, filters) {
    if (!filters.length) return null;
    const mask = new Uint8Array(columns.count).fill(1);
    for (const filter of filters) {
      const column = columns.column(filter.column);
      if (!column) continue;  // an old address may name what is gone
      // Each page numbers the workers in its own order.
      const values = filter.names ? filter.names.map((name) => columns.workers.indexOf(name)) : filter.values;
      if (values) applyValues(mask, column, columns.count, values);
      else applyRange(mask, column, columns.count, filter.low, filter.high);
    }
    return mask;
  }

  function bestRow(columns, name, minimize) {
    const scores = columns.column(name);
    if (!scores) return -1;
    const violation = columns.column("violation");
    let best = -1;
    for (let i = 0; i < columns.count; i++) {
      if (Number.isNaN(scores[i]) || !(violation[i] <= 0)) continue;  // NaN: a limited metric is missing
      if (best < 0 || (minimize ? scores[i] < scores[best] : scores[i] > scores[best])) best = i;
    }
    return best;
  }

  // The candidates of an input_choice that a value stands for: each is a bit of it.
  attune.subsetOf = ({ choices }, value) => choices.filter((_, i) => Math.floor(value / 2 ** i) % 2 === 1);

  class Experiment {
    // live: follows the server with a stream of its own. Else the owner calls update() with what is new.
    constructor(id, live = true) {
      this.id = id;
      this.live = live;
      this.path = "/experiments/" + encodeURIComponent(id);
      this.columns = new attune.Columns();
      this.space = [];
      this.metrics = [];
      this.info = signal(null);
      this.version = signal(0);
      this.loading = signal(true);
      this.problem = signal("");
      this.connected = signal(true);
      this.filters = signal([]);
      this.hover = signal(null);
      this.mask = computed(() => (this.version.value, maskOf(this.columns, this.filters.value)));
      this.selectedCount = computed(() => {
        const mask = this.mask.value;
        if (!mask) return this.version.value, this.count;
        let sum = 0;
        for (let i = 0; i < mask.length; i++) sum += mask[i];
        return sum;
      });
      this.bestRow = computed(() => (this.version.value, bestRow(this.columns, this.score, this.minimize)));
      this.cursor = "";
      this.closed = new AbortController();
      this.start();
    }

    get count() { return this.columns.count; }
    get workers() { return this.columns.workers; }
    get started() { return this.columns.started; }
    get total() { return this.columns.total; }
    get runs() { return this.columns.runs; }
    // The seconds since 1970 from which times count; 0: they are virtual, since the experiment was simulated.
    get origin() { return attune.isVirtual(this.started) ? 0 : this.started; }
    get minimize() { return this.metrics.length ? this.metrics[0].optimize_mode === "minimize" : true; }
    get score() { return this.metrics.length ? "m:" + this.metrics[0].metric : ""; }
    column(name) { return this.columns.column(name); }
    rowOf(trial) { return this.columns.rowOf(trial); }

    text(parameter, value) {
      if (Number.isNaN(value)) return "–";
      const { kind, choices } = this.space[parameter];
      if (kind === "subset") return attune.subsetOf(this.space[parameter], value).map((one) => attune.text(one, 40)).join(" + ") || "none";
      return choices && choices[value] !== undefined ? attune.text(choices[value]) : attune.number(value);
    }

    setFilter(column, filter) {
      const rest = this.filters.peek().filter((one) => one.column !== column);
      this.filters.value = filter ? [...rest, { ...filter, column }] : rest;
    }

    clearFilters() {
      this.filters.value = [];
    }

    openTrial(trial) {
      location.hash = attune.trialAddress(this.id, trial);
    }

    async start() {
      try {
        this.take(await net.get(this.path, this.closed.signal));
      } catch (error) {
        if (error.name === "AbortError") return;
        this.problem.value = error.message;
        // A server that is being started anew will answer; one that refused will refuse again.
        if (!error.status || error.status >= 500) setTimeout(() => this.closed.signal.aborted || this.start(), 3000);
        return;
      }
      this.problem.value = "";
      await this.fetchColumns();
      if (this.closed.signal.aborted || !this.live) return;
      this.end = net.stream(this.id, (name, data) => {
        if (name === "failure") this.problem.value = data.error;
        else this.update(data);
      }, (connected) => (this.connected.value = connected));
    }

    update(info) {
      this.take(info);
      this.fetchColumns();
    }

    // The file and the search space may be others than at the start.
    async refresh() {
      this.take(await net.get(this.path, this.closed.signal));
      this.version.value++;
    }

    // Events leave out the file and the search space, which the first answer had.
    take(info) {
      const known = this.info.peek() || {};
      if (info.space) this.space = info.space;
      if (info.metrics) this.metrics = info.metrics;
      this.info.value = { ...known, ...info };
    }

    // One fetch at a time: what is asked for meanwhile comes with one further round.
    async fetchColumns() {
      if (this.fetching) {
        this.again = true;
        return;
      }
      this.fetching = true;
      try {
        do {
          this.again = false;
          let news = false;
          let shown = this.count;
          for (let more = true; more;) {
            const header = await this.fetchPage();
            more = header.more;
            news = news || header.rows > 0 || header.reset;
            // While much is loading, panels draw after the first answer and whenever the rows have doubled: drawing
            // after each answer takes longer than loading.
            if (!news || (more && this.count < 2 * shown)) continue;
            shown = this.count;
            news = false;
            this.version.value++;
          }
        } while (this.again);
        this.problem.value = "";
      } catch (error) {
        if (error.name !== "AbortError") this.problem.value = error.message;
        this.version.value++;  // some rows may have come before
      }
      this.fetching = false;
      this.loading.value = false;
    }

    async fetchPage() {
      const query = "?after=" + encodeURIComponent(this.cursor) + "&limit=" + pageRows;
      const buffer = await net.bytes(this.path + "/columns" + query, this.closed.signal);
      const header = this.columns.merge(buffer);
      this.cursor = header.next;
      // Somebody changed the search space: there are other columns now, or choices that nobody has heard of.
      const names = header.columns.map((one) => one.name).join("\n");
      this.stale ||= header.reset || (this.names !== undefined && this.names !== names) || this.hasNewChoice(header.rows);
      this.names = names;
      if (this.stale) await this.refresh();
      this.stale = false;
      return header;
    }

    hasNewChoice(rows) {
      return rows > 0 && this.space.some(({ name, kind, choices }) => {
        const column = kind === "choice" && choices.length < mostChoices && this.column("p:" + name);
        if (!column) return false;
        for (let i = Math.max(0, this.count - rows); i < this.count; i++) if (column[i] >= choices.length) return true;
        return false;
      });
    }

    close() {
      this.closed.abort();
      if (this.end) this.end();
    }
  }

  let open = null;
  // The page shows one experiment at a time, so one is kept: going to a trial and back loads nothing anew.
  attune.openExperiment = function (id) {
    if (open && open.id === id) return open;
    if (open) open.close();
    open = new Experiment(id);
    return open;
  };
  attune.closeExperiment = function () {
    if (open) open.close();
    open = null;
  };
  attune.Experiment = Experiment;
})();
