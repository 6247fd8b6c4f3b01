// What all parts of the page share: the namespace `attune`, short names for the libraries, text for numbers and
// times, the theme, and downloads. Loaded first after vendor/.
(function () {
  "use strict";
  const attune = (window.attune = { panels: {} });
  const { h, render, Fragment } = preact;
  const { signal, computed, effect, batch, untracked } = preactSignalsCore;
  const { useState, useRef, useEffect, useLayoutEffect, useMemo, useCallback } = preactHooks;
  const { useSignal, useComputed, useSignalEffect } = preactSignals;

  Object.assign(attune, {
    h, render, Fragment, html: htm.bind(h),
    signal, computed, effect, batch, untracked,
    useState, useRef, useEffect, useLayoutEffect, useMemo, useCallback, useSignal, useComputed, useSignalEffect,
  });

  // The order of these two lists is that of the columns "status" and "source".
  attune.statuses = ["pending", "running", "paused", "succeeded", "failed", "early_stopped", "user_canceled"];
  attune.statusNames = ["pending", "running", "paused", "succeeded", "failed", "stopped early", "canceled"];
  attune.sources = ["tuner", "user", "initial"];

  // number(0.000123456) -> "0.0001235"; five significant digits by default; a dash for what is absent.
  attune.number = function (value, digits = 5) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (typeof value !== "number") return attune.text(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
    const size = Math.abs(value);
    return size >= 1e6 || size < 1e-4 ? Number(value.toPrecision(digits - 1)).toExponential() : String(Number(value.toPrecision(digits)));
  };

  // Characters that are not seen, but turn the direction of what follows, or control a terminal.
  const unseen = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  const code = (one) => "\\u" + one.charCodeAt(0).toString(16).padStart(4, "0");

  // Any JSON value as one line of text, cut after `limit` characters: names and values may be a megabyte long. Characters
  // that are not seen are written as in JSON.
  attune.text = function (value, limit = 200) {
    const text = typeof value === "string" ? value : typeof value === "number" ? attune.number(value) : JSON.stringify(value);
    if (text === undefined) return "–";
    const short = text.length > limit ? text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, "") + "…" : text;
    return short.replace(unseen, code);
  };

  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  // duration(3725) -> "1 h 2 min": the two largest units.
  attune.duration = function (seconds) {
    if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
    if (seconds < 1) return seconds <= 0 ? "0 s" : Math.round(seconds * 1000) + " ms";
    let rest = Math.round(seconds);
    const parts = [];
    for (const [size, name] of units) {
      if (rest >= size && parts.length < 2) parts.push(Math.floor(rest / size) + " " + name);
      else if (parts.length) break;
      rest %= size;
    }
    return parts.join(" ");
  };

  // The local date and time of seconds since 1970; only the time if it is of today. A simulation has a virtual clock
  // that begins with 1970, of which only the distance to its beginning says something.
  attune.isVirtual = (seconds) => seconds !== null && seconds < 1e8;
  // Seconds from a beginning to its end, or to now while there is none; null: not begun, or a virtual clock runs on.
  attune.elapsed = function (started, ended) {
    if (!started || (attune.isVirtual(started) && !ended)) return null;
    return (ended ?? Date.now() / 1000) - started;
  };
  attune.moment = function (seconds) {
    if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
    if (attune.isVirtual(seconds)) return "virtual " + attune.duration(seconds);
    const time = new Date(seconds * 1000);
    const today = time.toDateString() === new Date().toDateString();
    return (today ? time.toLocaleTimeString() : time.toLocaleString()).replaceAll(" ", "\u00a0");
  };

  attune.bytes = function (count) {
    if (!Number.isFinite(count)) return "–";
    const names = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = 0;
    for (; count >= 1024 && power < 4; power++) count /= 1024;
    return (power ? count.toFixed(1) : count) + " " + names[power];
  };

  attune.count = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en").replaceAll(",", "\u202f"));

  attune.arrow = (mode) => (mode === "maximize" ? "↑" : "↓");
  attune.trialCount = (count) => attune.count(count) + (count === 1 ? " trial" : " trials");

  // The number of a job id: "t0012" -> 12, null if it has none.
  attune.trialNumber = (jobId) => (/\d+$/.test(jobId || "") ? Number(/\d+$/.exec(jobId)[0]) : null);

  // The parameters of a trial without nesting:
  // {lr: 1, net: {_name: "conv", kernel: 3}} -> [["lr", 1], ["net", "conv"], ["net.kernel", 3]]
  attune.flat = function (parameters, prefix = "") {
    return Object.entries(parameters || {}).flatMap(([name, value]) => {
      const path = prefix + name;
      if (value === null || typeof value !== "object" || Array.isArray(value)) return [[path, value]];
      if (!("_name" in value)) return [[path, value]];
      const { _name, ...inner } = value;
      return [[path, _name], ...attune.flat(inner, path + ".")];
    });
  };

  attune.save = function (name, content, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    link.download = name.replace(/[^\w.-]+/g, "_").slice(0, 120);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  // Private windows of some browsers refuse storage; the page then forgets, and works.
  attune.remember = function (key, value) {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, value);
    } catch (error) { /* as said above */ }
  };
  attune.remembered = function (key) {
    try {
      return localStorage.getItem(key);
    } catch (error) {
      return null;
    }
  };

  // "light" or "dark". What the user chose wins over the system's wish. Canvases read the colours from the style of
  // the root, so they draw anew when this changes; the attribute is set before the signal for their sake.
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const wanted = () => attune.remembered("attune-theme") || (systemDark.matches ? "dark" : "light");
  attune.theme = signal("");
  function showTheme() {
    document.documentElement.dataset.theme = wanted();
    attune.theme.value = wanted();
  }
  attune.setTheme = function (theme) {
    attune.remember("attune-theme", theme);
    showTheme();
  };
  systemDark.addEventListener("change", showTheme);
  showTheme();
})();
