// The timeline of workers and GPUs: when which of them had a trial. A trial with several GPUs is in the lane of each.
// Trials without either (on the manager's own machine) are put into as few lanes as they need, so that what overlaps is
// seen apart.
(function () {
  "use strict";
  const { plot, html } = attune;
  const nowhere = 0xffff;
  const mostLanes = 64;
  const kindColors = ["c0", "c2", "c4", "bad", "c7", "c5"];
  const kindNames = ["succeeded", "running", "stopped early", "failed", "canceled or waiting", "paused"];
  const kindOfStatus = [4, 1, 5, 0, 3, 2, 4];  // by attune.statuses

  // The lanes of a place: "w7" is one, "w7 gpu 0,1" are two.
  function lanesOfPlace(place) {
    const found = /^(.*?) ?\bgpu (\S+)$/.exec(place);
    return found ? found[2].split(",").map((gpu) => (found[1] ? found[1] + " " : "") + "gpu " + gpu) : [place];
  }

  const lanesOf = (experiment) => [...new Set(experiment.workers.flatMap(lanesOfPlace))]
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));

  // Calls use(row, from, until, worker, status) for each stretch of time in which a trial ran; until is Infinity while
  // it goes on.
  function eachRun(experiment, use) {
    const { count, runs } = experiment;
    const [trial, started, ended, worker, status] = ["trial", "started", "ended", "worker", "status"].map((name) => experiment.column(name));
    const end = (time) => (time === time ? time : Infinity);
    for (let row = 0; row < count; row++) {
      const several = runs.size && runs.get(trial[row]);
      if (several) for (const run of several) use(row, run.started, end(run.ended), run.worker, run.status);
      else if (started[row] === started[row]) use(row, started[row], end(ended[row]), worker[row], status[row]);
    }
  }

  // The bars, one for each lane of each run: {count, row, from, until, worker, status, lane: arrays by bar, names: [text
  // of each lane], end: newest time}. What runs at the same time at one place lies in different lanes.
  function barsOf(experiment) {
    const texts = lanesOf(experiment);
    const indices = new Map(texts.map((text, i) => [text, i]));
    const places = experiment.workers.map((place) => lanesOfPlace(place).map((text) => indices.get(text)));
    const own = [texts.length];  // the manager's machine
    const placesAt = (worker) => (worker === nowhere ? own : places[worker]);
    let count = 0;
    eachRun(experiment, (row, from, until, worker) => (count += placesAt(worker).length));
    const bars = {
      count, row: new Int32Array(count), from: new Float32Array(count), until: new Float32Array(count), worker: new Uint16Array(count),
      status: new Uint8Array(count), lane: new Uint16Array(count), names: [], end: 0,
    };
    const place = new Uint16Array(count);
    let next = 0;
    eachRun(experiment, (row, from, until, worker, status) => {
      for (const index of placesAt(worker)) {
        bars.row[next] = row;
        bars.from[next] = from;
        bars.until[next] = until;
        bars.worker[next] = worker;
        bars.status[next] = status;
        place[next++] = index;
      }
      bars.end = Math.max(bars.end, from, until === Infinity ? 0 : until);
    });
    const free = [...texts, ""].map(() => []);  // by place, for each lane: until when it is taken
    for (const bar of attune.sortedRows(bars.from, count, false)) {
      const taken = free[place[bar]];
      // Clocks and events of several machines are never exact.
      const begin = bars.from[bar] + Math.min(1, 0.25 * (bars.until[bar] - bars.from[bar]));
      let lane = taken.findIndex((time) => time <= begin);
      if (lane < 0) lane = taken.length < mostLanes ? taken.push(0) - 1 : taken.indexOf(Math.min(...taken));
      taken[lane] = bars.until[bar];
      bars.lane[bar] = lane;
    }
    const first = free.map((taken, i) => {
      const begin = bars.names.length;
      const name = (k) => (i < texts.length ? attune.text(texts[i], 60) + (k ? " (" + (k + 1) + ")" : "") : (texts.length ? "no worker " : "place ") + (k + 1));
      bars.names.push(...taken.map((_, k) => name(k)));
      return begin;
    });
    for (let bar = 0; bar < count; bar++) bars.lane[bar] += first[place[bar]];
    return bars;
  }

  // Bars as pixels of a coarse image, one row for each lane: at most a few writes for each. Returns for each pixel the
  // bar + 1 that it shows.
  function spans(bars, x, box, mask) {
    const width = Math.ceil((box.right - box.left) * 2);
    const chosen = new Int32Array(width * bars.names.length);
    const others = mask ? new Int32Array(width * bars.names.length) : null;
    for (let bar = 0; bar < bars.count; bar++) {
      let a = Math.round((x.of(bars.from[bar]) - box.left) * 2), b = Math.round((x.of(Math.min(bars.until[bar], x.high)) - box.left) * 2) - 1;
      if (b < 0 || a >= width) continue;
      a = Math.max(0, Math.min(a, width - 1));
      b = Math.min(b, width - 1);
      const target = mask && !mask[bars.row[bar]] ? others : chosen;
      for (let at = a; at <= Math.max(a, b); at++) target[bars.lane[bar] * width + at] = bar + 1;
    }
    return { width, chosen, others };
  }

  function paint(bars, { width, chosen, others }) {
    const image = plot.image(width, bars.names.length, 1);
    const colors = plot.colors();
    const inks = attune.statuses.map((_, k) => plot.abgr(colors[kindColors[kindOfStatus[k]]]));
    const grey = plot.abgr(colors.line);
    // The first pixel of a wide bar that follows another at once is pale, so that one sees where it begins.
    for (let at = 0; at < chosen.length; at++) {
      const bar = chosen[at];
      const follows = at % width && chosen[at - 1] && chosen[at - 1] !== bar && chosen[at + 2] === bar;
      if (bar) image.pixels[at] = (inks[bars.status[bar - 1]] & 0xffffff) | ((follows ? 150 : 255) << 24);
      else if (others && others[at]) image.pixels[at] = grey;
    }
    return image.canvas();
  }

  function makeDraw(experiment) {
    const [barMemo, spanMemo, images] = [plot.memo(), plot.memo(), plot.memo()];
    return function (pen, width, height) {
      const version = experiment.version.value;
      const mask = experiment.mask.value;
      const { count } = experiment;
      if (!count || !experiment.column("started")) return plot.note(pen, width, height, "No trial has started yet."), { label: "No trial has started yet." };
      const bars = barMemo([version], () => barsOf(experiment));
      if (!bars.count) return plot.note(pen, width, height, "No trial has started yet."), { label: "No trial has started yet." };
      const running = experiment.info.peek()?.status === "running";
      const end = running && experiment.origin ? Math.max(bars.end, Date.now() / 1000 - experiment.started) : bars.end;
      const x = new plot.Scale("time", 0, end || 1, { base: experiment.origin });
      const y = new plot.Scale("category", 0, 0, { names: bars.names });
      const used = new Set();
      for (let bar = 0; bar < bars.count && used.size < kindNames.length; bar++) used.add(kindOfStatus[bars.status[bar]]);
      const legend = kindNames.map((name, k) => ({ name, color: plot.colors()[kindColors[k]], kind: "box" })).filter((_, k) => used.has(k));
      const box = plot.axes(pen, width, height, x, y, { legend });
      y.range(box.top, box.bottom);  // the first worker on top
      redoNames(pen, box, y);
      const found = spanMemo([bars, mask, x.key, width], () => spans(bars, x, box, mask));
      const picture = images([found, attune.theme.value], () => paint(bars, found));
      const lane = (box.bottom - box.top) / bars.names.length;
      pen.imageSmoothingEnabled = false;
      pen.drawImage(picture, box.left, box.top, box.right - box.left, box.bottom - box.top);
      pen.imageSmoothingEnabled = true;
      // Gaps between the lanes.
      pen.fillStyle = plot.colors().bg;
      if (lane >= 5) for (let k = 0; k <= bars.names.length; k++) pen.fillRect(box.left, Math.round(box.top + k * lane) - 1, box.right - box.left, 2);
      const hitOf = (bar, at) => {
        const [row, from, until] = [bars.row[bar], bars.from[bar], bars.until[bar]];
        const place = bars.worker[bar] === nowhere ? bars.names[bars.lane[bar]] : attune.text(experiment.workers[bars.worker[bar]], 60);
        const time = "started " + x.text(from) + (until < Infinity ? ", took " + attune.duration(until - from) : "");
        return {
          x: at ?? x.of(from), y: box.top + (bars.lane[bar] + 0.5) * lane, bar, trial: experiment.column("trial")[row],
          lines: plot.describe(experiment, row, [place, time]),
        };
      };
      return {
        label: "Timeline of " + bars.names.length + " workers over " + attune.duration(end) + ".",
        pick(mx, my) {
          const at = Math.floor((mx - box.left) * 2), which = Math.floor((my - box.top) / lane);
          if (at < 0 || at >= found.width || which < 0 || which >= bars.names.length) return null;
          for (const shift of [0, 1, -1, 2, -2, 3, -3]) {
            const bar = found.chosen[which * found.width + at + shift];
            if (bar > 0 && at + shift >= 0 && at + shift < found.width) return hitOf(bar - 1, mx);
          }
          return null;
        },
        place(trial) {
          const bar = bars.row.indexOf(experiment.rowOf(trial));
          return bar < 0 ? null : hitOf(bar);
        },
        over(over, { bar }) {
          over.strokeStyle = plot.colors().fg;
          over.lineWidth = 2;
          for (let one = bars.row.indexOf(bars.row[bar]); bars.row[one] === bars.row[bar]; one++) {
            const [a, b] = [x.of(bars.from[one]), x.of(Math.min(bars.until[one], x.high))];
            over.strokeRect(a - 1, box.top + bars.lane[one] * lane, Math.max(3, b - a + 2), Math.max(4, lane));
          }
        },
        brush: { box, x: { scale: x, column: "started" }, y: null },
      };
    };
  }

  // The axis was drawn with the first name at the bottom; its names are written anew from the top.
  function redoNames(pen, box, y) {
    const colors = plot.colors();
    pen.fillStyle = colors.bg;
    pen.fillRect(0, box.top - 6, box.left - 1, box.bottom - box.top + 12);
    pen.fillStyle = colors.muted;
    pen.font = plot.font();
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const { value, text } of y.ticks((box.bottom - box.top) / 13)) pen.fillText(plot.fit(pen, text, box.left - 10), box.left - 6, y.of(value));
  }

  function csvOf(experiment) {
    const [trial, mask] = [experiment.column("trial"), experiment.mask.peek()];
    const rows = [["trial", "status", "worker", "started", "ended"]];
    eachRun(experiment, (row, from, until, worker, status) => {
      if (mask && !mask[row]) return;
      const end = until < Infinity ? experiment.started + until : "";
      rows.push([trial[row], attune.statuses[status], experiment.workers[worker] ?? "", experiment.started + from, end]);
    });
    return rows;
  }

  function View({ experiment }) {
    experiment.version.value;
    const draw = attune.useMemo(() => makeDraw(experiment), [experiment]);
    const lanes = Math.max(lanesOf(experiment).length, 6);
    const height = Math.min(420, Math.max(150, 50 + 20 * lanes));
    return html`<${plot.Figure} name="timeline" experiment=${experiment} height=${height} draw=${draw} csv=${() => csvOf(experiment)} />`;
  }

  attune.panels.timeline = { title: "Workers and GPUs", wide: true, needs: () => true, View };
})();
