// Scales: from values to pixels and back, with nice ticks.
//   new attune.plot.Scale(kind, low, high, {names, base, whole})
//     kind   "linear", "log" (low > 0), "time" (seconds; base: the seconds since 1970 of 0, or 0 for durations),
//            "category" (values 0 … names.length - 1)
//     whole  ticks at integers only
//   range(a, b): low is drawn at pixel a, high at b; a > b is fine.   of(value) -> pixel, at(pixel) -> value
//   map(column, count, out): writes of() of each value to the Float32Array out; NaN stays NaN
//   ticks(number) -> about that many [{value, text}];  text(value) -> with the precision of the ticks
(function () {
  "use strict";
  const { plot } = attune;
  const times = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
    86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];

  function niceStep(raw) {
    const power = 10 ** Math.floor(Math.log10(raw));
    const share = raw / power;
    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
  }

  function plain(value, step) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e7 || (size < 1e-4 && step < 1e-4)) {
      const digits = Math.max(0, Math.min(6, Math.floor(Math.log10(size)) - Math.floor(Math.log10(step))));
      return value.toExponential(digits).replace("e+", "e").replace("-", "−");
    }
    const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
    const text = decimals ? value.toFixed(decimals) : attune.count(Math.round(value));
    return text.replace("-", "−");
  }

  const two = (number) => String(number).padStart(2, "0");

  function clock(seconds, step) {
    const time = new Date(seconds * 1000);
    if (step >= 86400) return time.getFullYear() + "-" + two(time.getMonth() + 1) + "-" + two(time.getDate());
    const hours = two(time.getHours()) + ":" + two(time.getMinutes());
    if (step < 1) return hours + ":" + two(time.getSeconds()) + (time.getMilliseconds() / 1000).toFixed(3).slice(1);
    if (step < 60) return hours + ":" + two(time.getSeconds());
    return time.getHours() + time.getMinutes() === 0 ? two(time.getMonth() + 1) + "-" + two(time.getDate()) : hours;
  }

  class Scale {
    constructor(kind, low, high, { names = null, base = 0, whole = false } = {}) {
      if (kind === "category") [low, high] = [-0.5, Math.max(1, names.length) - 0.5];
      if (!(high > low)) {  // one value, or none: give it room
        const room = kind === "log" ? 0 : Math.abs(low) * 0.05 || 0.5;
        [low, high] = kind === "log" ? [low / 2, low * 2] : [low - room, low + room];
      }
      Object.assign(this, { kind, low, high, names, base, whole });
      this.step = niceStep((high - low) / 5);
      this.range(0, 1);
    }

    // Room of `share` of the length on both sides, so that no mark lies on the edge.
    padded(share = 0.04) {
      if (this.kind === "category") return this;
      const log = this.kind === "log";
      const [a, b] = log ? [Math.log(this.low), Math.log(this.high)] : [this.low, this.high];
      const room = share * (b - a);
      [this.low, this.high] = log ? [Math.exp(a - room), Math.exp(b + room)] : [a - room, b + room];
      return this.range(this.first, this.last);
    }

    range(first, last) {
      const log = this.kind === "log";
      const [a, b] = log ? [Math.log(this.low), Math.log(this.high)] : [this.low, this.high];
      this.first = first;
      this.last = last;
      this.slope = (last - first) / (b - a);
      this.offset = first - a * this.slope;
      return this;
    }

    of(value) {
      return this.offset + this.slope * (this.kind === "log" ? Math.log(value) : value);
    }

    at(pixel) {
      const value = (pixel - this.offset) / this.slope;
      return this.kind === "log" ? Math.exp(value) : value;
    }

    map(column, count, out) {
      const { offset, slope } = this;
      if (this.kind === "log") for (let i = 0; i < count; i++) out[i] = offset + slope * Math.log(column[i]);
      else for (let i = 0; i < count; i++) out[i] = offset + slope * column[i];
      return out;
    }

    // Names all that decides where a value is drawn: a key for memo().
    get key() {
      return [this.kind, this.low, this.high, this.first, this.last].join();
    }

    ticks(number) {
      number = Math.max(2, number);
      if (this.kind === "category") return this.categoryTicks(number);
      if (this.kind === "time") return this.timeTicks(number);
      if (this.kind === "log" && this.high / this.low > 8) return this.logTicks(number);
      let step = niceStep((this.high - this.low) / number);
      if (this.whole) step = Math.max(1, Math.round(step));
      this.step = step;
      return this.every(step, (value) => plain(value, step));
    }

    every(step, text, shift = 0) {
      const ticks = [];
      const slack = 1e-9 * (this.high - this.low);
      for (let k = Math.ceil((this.low + shift - slack) / step); ticks.length < 200; k++) {
        const value = k * step - shift;
        if (value > this.high + slack) break;
        ticks.push({ value, text: text(value) });
      }
      return ticks;
    }

    categoryTicks(number) {
      const stride = Math.max(1, Math.ceil(this.names.length / number));
      const ticks = [];
      for (let i = 0; i < this.names.length; i += stride) ticks.push({ value: i, text: attune.text(this.names[i], 60) });
      return ticks;
    }

    timeTicks(number) {
      const raw = (this.high - this.low) / number;
      const step = raw < 1 ? niceStep(raw) : times.find((one) => one >= raw) || niceStep(raw);
      this.step = step;
      if (!this.base) return this.every(step, (value) => (value === 0 ? "0" : attune.duration(value)));
      // Ticks at full hours and midnights of the local clock.
      const zone = -60 * new Date(this.base * 1000).getTimezoneOffset();
      return this.every(step, (value) => clock(this.base + value, step), this.base + zone);
    }

    logTicks(number) {
      const [a, b] = [Math.log10(this.low), Math.log10(this.high)];
      const stride = Math.max(1, Math.ceil((b - a) / number));
      const within = b - a < number / 3 ? [1, 2, 5] : [1];
      const ticks = [];
      for (let power = Math.floor(a); power <= Math.ceil(b); power++) {
        if (((power % stride) + stride) % stride !== 0) continue;
        for (const factor of within) {
          const value = factor * 10 ** power;
          if (value >= this.low * 0.999999 && value <= this.high * 1.000001) ticks.push({ value, text: plain(value, 10 ** power) });
        }
      }
      return ticks;
    }

    text(value) {
      if (value === null || Number.isNaN(value)) return "–";
      if (this.kind === "category") return attune.text(this.names[Math.round(value)] ?? "–", 60);
      if (this.kind === "time") return this.base ? attune.moment(this.base + value) : attune.duration(value);
      return attune.number(value);
    }
  }

  // The scale of a parameter of the search space, over its whole domain.
  plot.parameterScale = function (entry) {
    if (entry.choices) return new Scale("category", 0, 0, { names: entry.choices });
    const log = entry.log && entry.low > 0;
    return new Scale(log ? "log" : "linear", entry.low, entry.high, { whole: entry.kind === "integer" });
  };

  plot.Scale = Scale;
})();
