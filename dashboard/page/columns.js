// The trials of an experiment as columns of numbers: growing typed arrays, filled from binary answers of the server.
// new attune.Columns() -> {count, workers, started, total, runs, column(name), rowOf(trial), merge(buffer) -> header, clear()}
// runs: Map by trial of those that were interrupted: [{started, ended, worker, status}…], the first run first; the columns
// tell all of the others.
// Rows are in the order in which trials arrived; a trial keeps its row when its values change.
(function () {
  "use strict";
  const types = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };
  const nowhere = 0xffff;

  function grown(array, size) {
    const larger = new array.constructor(size);
    larger.set(array);
    return larger;
  }

  class Columns {
    constructor() {
      this.clear();
    }

    clear() {
      this.count = 0;
      this.total = 0;
      this.started = 0;
      this.workers = [];
      this.runs = new Map();
      this.arrays = new Map();
      this.capacity = 0;
      this.rows = new Int32Array(1024).fill(-1);  // by trial number; trials are numbered densely
    }

    // A typed array of at least `count` values; null if there is no such column. It is replaced when it must grow, so
    // nobody keeps it over a change of the experiment's version.
    column(name) {
      return this.arrays.get(name) || null;
    }

    rowOf(trial) {
      return trial < this.rows.length ? this.rows[trial] : -1;
    }

    // Takes over one answer of GET …/columns. Throws an Error if it is not one.
    merge(buffer) {
      const length = new DataView(buffer).getUint32(0, true);
      const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
      if (header.reset) this.clear();
      this.total = header.total;
      this.started = header.started;
      const partsOf = ({ columns, rows }) => new Map(columns.map(({ name, type, offset }) => [name, new types[type](buffer, 4 + length + offset, rows)]));
      const parts = partsOf(header);
      const runs = partsOf(header.runs);
      const map = this.workerMap(header.workers);
      this.remap(parts.get("worker"), map);
      this.remap(runs.get("worker"), map);
      const places = this.place(parts.get("trial"), header.rows);
      for (const [name, part] of parts) this.write(name, part, places, header.rows);
      this.writeRuns(parts.get("trial"), runs, header.runs.rows);
      return header;
    }

    writeRuns(trials, runs, rows) {
      if (this.runs.size) for (const trial of trials) this.runs.delete(trial);
      const [trial, started, ended, worker, status] = ["trial", "started", "ended", "worker", "status"].map((name) => runs.get(name));
      for (let i = 0; i < rows; i++) {
        if (!this.runs.has(trial[i])) this.runs.set(trial[i], []);
        this.runs.get(trial[i]).push({ started: started[i], ended: ended[i], worker: worker[i], status: status[i] });
      }
    }

    // Each answer numbers its own workers.
    workerMap(names) {
      return names.map((name) => {
        const known = this.workers.indexOf(name);
        return known >= 0 ? known : this.workers.push(name) - 1;
      });
    }

    remap(column, map) {
      for (let i = 0; i < column.length; i++) if (column[i] !== nowhere) column[i] = map[column[i]];
    }

    // The row of each trial of an answer; null if all are new: they then follow as one block, which is much faster.
    place(trials, rows) {
      const first = this.count;
      const places = new Int32Array(rows);
      let fresh = true;
      for (let i = 0; i < rows; i++) {
        const trial = trials[i];
        if (trial >= this.rows.length) {
          const old = this.rows.length;
          this.rows = grown(this.rows, Math.max(trial + 1, 2 * old));
          this.rows.fill(-1, old);
        }
        if (this.rows[trial] < 0) this.rows[trial] = this.count++;
        else fresh = false;
        places[i] = this.rows[trial];
      }
      if (this.count > this.capacity) {
        this.capacity = Math.max(this.count, this.total, 2 * this.capacity, 64);
        for (const [name, array] of this.arrays) this.arrays.set(name, grown(array, this.capacity));
      }
      return fresh ? { first } : places;
    }

    write(name, part, places, rows) {
      let array = this.arrays.get(name);
      if (!array) {
        array = new part.constructor(this.capacity);
        if (array instanceof Float32Array || array instanceof Float64Array) array.fill(NaN);
        this.arrays.set(name, array);
      }
      if (places.first !== undefined) array.set(part, places.first);
      else for (let i = 0; i < rows; i++) array[places[i]] = part[i];
    }
  }

  attune.Columns = Columns;
})();
