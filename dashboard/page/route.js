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

  attune.trialAddress = (id, number) => attune.address(["e", id, "t", String(number)]);

  // Replaces values of the query, without an entry in the browser's history: there are many small steps. A list of
  // values writes the key several times.
  attune.setQuery = function (changes) {
    const query = new URLSearchParams(route.peek().query);
    for (const [key, value] of Object.entries(changes)) {
      query.delete(key);
      for (const one of Array.isArray(value) ? value : [value])
        if (one !== null && one !== undefined && one !== "") query.append(key, one);
    }
    const hash = attune.address(route.peek().path, query);
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
