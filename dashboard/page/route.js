// The state of the page as its address: #/e/ID/t/12?panel=history&f=p:lr~0.1~0.5. Every view can be linked to.
(function () {
  "use strict";
  const { signal, computed } = attune;

  function parse() {
    const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
    const parts = path.split("/").filter((part) => part).map((part) => {
      try {
        return decodeURIComponent(part);
      } catch (error) {
        return part;  // a "%" somebody typed
      }
    });
    return { path: parts, query: new URLSearchParams(query || "") };
  }

  // Signal: {path: [text…], query: URLSearchParams}.
  const route = (attune.route = signal(parse()));
  addEventListener("hashchange", () => (route.value = parse()));

  // address(["e", "a b"], {x: 1}) -> "#/e/a%20b?x=1"; null and "" leave a key out.
  attune.address = function (path, query = {}) {
    const search = new URLSearchParams();
    for (const [key, value] of query instanceof URLSearchParams ? query : Object.entries(query))
      if (value !== null && value !== undefined && value !== "") search.append(key, value);
    const text = search.toString();
    return "#/" + path.map(encodeURIComponent).join("/") + (text ? "?" + text : "");
  };

  // The query with changes; a list of values gives the key several times.
  function changed(query, changes) {
    const next = new URLSearchParams(query);
    for (const [key, value] of Object.entries(changes)) {
      next.delete(key);
      for (const one of Array.isArray(value) ? value : [value])
        if (one !== null && one !== undefined && one !== "") next.append(key, one);
    }
    return next;
  }

  // The page of an experiment as it was left, with its filters.
  const left = new Map();  // queries by id
  attune.experimentAddress = (id) => attune.address(["e", id], left.get(id));
  attune.keepQuery = (id, changes) => left.set(id, changed(left.get(id), changes));
  attune.effect(() => {
    const { path, query } = route.value;
    if (path[0] === "e" && path.length === 2) left.set(path[1], query);
  });

  attune.trialAddress = (id, number) => attune.address(["e", id, "t", String(number)]);

  // Replaces values of the query, without an entry in the browser's history: there are many small steps.
  attune.setQuery = function (changes) {
    const hash = attune.address(route.peek().path, changed(route.peek().query, changes));
    if (hash === location.hash) return;
    history.replaceState(history.state, "", hash);
    route.value = parse();
  };

  // A choice of a panel that lives in the address: param("history.y", "score") has .value like a signal, and .set().
  attune.param = function (key, fallback) {
    const value = computed(() => route.value.query.get(key) ?? fallback);
    return {
      get value() { return value.value; },
      peek: () => value.peek(),
      set: (next) => attune.setQuery({ [key]: next === fallback ? null : next }),
    };
  };
})();
