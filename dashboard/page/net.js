// Talks to the server below api/v1, or, in a report, to the answers that the document holds.
//   attune.net.get(path) -> Promise of JSON;  bytes(path) -> Promise of ArrayBuffer;  post(path, body, method)
//   attune.net.stream(experiment or null, onEvent(name, data), onState(connected)) -> function that ends it
// path begins behind /api/v1. A failure rejects with an Error whose message is a sentence for the user, with .status.
(function () {
  "use strict";
  const base = "api/v1";  // relative, so that a proxy may serve the page below a path of its own
  const { signal } = attune;

  const embedded = document.getElementById("attune-report");
  const report = embedded ? JSON.parse(embedded.textContent).paths : null;

  // Signal: {state: "unknown" | "in" | "out", readOnly, version}.
  const session = signal({ state: "unknown", readOnly: true, version: "" });

  // What a log-in has given, for the next page. A proxy may serve several dashboards below paths of their own.
  const keyName = "attune-key " + location.pathname;
  let key = attune.remembered(keyName) || "";

  function failure(message, status) {
    const error = new Error(message);
    error.status = status;
    return error;
  }

  // The experiments of a report, as they stand in paths.
  const reported = () => Object.keys(report).map((key) => /^(?:\/api\/v1)?\/experiments\/([^/?]+)$/.exec(key)).filter((one) => one).map((one) => one[1]);

  // A report may hold an answer under the whole path, or under the path without a query that only refines it.
  function fromReport(path) {
    const bare = path.split("?")[0];
    for (const key of [path, bare, "/api/v1" + path, "/api/v1" + bare])
      if (Object.hasOwn(report, key)) return report[key];
    if (path === "/experiments") return { experiments: reported().map((id) => fromReport("/experiments/" + id)) };
    throw failure("This report does not hold this part. Run attune dashboard to see it.", 404);
  }

  function decoded(base64) {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes.buffer;
  }

  async function request(path, options = {}) {
    let response;
    try {
      const headers = { ...options.headers, "Attune-Key": key };
      response = await fetch(base + path, { credentials: "same-origin", cache: "no-store", ...options, headers });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw failure("The dashboard does not answer. Is attune dashboard still running?", 0);
    }
    if (response.ok) return response;
    if (response.status === 401) session.value = { ...session.peek(), state: "out" };
    let message = "The dashboard answered with status " + response.status + ".";
    try {
      message = (await response.json()).error || message;
    } catch (error) { /* not JSON: the status has to do */ }
    throw failure(message, response.status);
  }

  async function get(path, signal) {
    if (report) return fromReport(path);
    return (await request(path, { signal })).json();
  }

  async function bytes(path, signal) {
    if (report) return decoded(fromReport(path).base64);
    return (await request(path, { signal })).arrayBuffer();
  }

  async function post(path, body, method = "POST") {
    if (report) throw failure("A report cannot change its experiment.", 403);
    const headers = { "Content-Type": "application/json" };
    const response = await request(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await response.text();
    return text ? JSON.parse(text) : {};
  }

  function entered(answer) {
    session.value = { state: "in", readOnly: !!answer.read_only, version: answer.version };
  }

  async function login(token) {
    const answer = await post("/session", { token });
    key = answer.key;
    attune.remember(keyName, key);
    entered(answer);
  }

  async function logout() {
    await post("/session", undefined, "DELETE");
    key = "";
    attune.remember(keyName, null);
    session.value = { ...session.peek(), state: "out" };
  }

  // A report of one experiment begins with it.
  function openReport() {
    entered({ read_only: true, version: "report" });
    if (reported().length === 1 && location.hash.length < 3) location.replace("#/e/" + reported()[0]);
  }

  // Called once. Takes the token out of the address at once, so that it is neither bookmarked nor shared.
  async function start() {
    if (report) return openReport();
    const found = /[#&]token=([^&]+)/.exec(location.hash);
    if (found) {
      history.replaceState(null, "", location.pathname + location.search + "#/");
      dispatchEvent(new Event("hashchange"));
      try {
        return await login(decodeURIComponent(found[1]));
      } catch (error) { /* an old link: an open session may still do */ }
    }
    try {
      entered(await get("/session"));
    } catch (error) {
      if (error.status !== 401) setTimeout(() => start().catch(() => {}), 2000);
      throw error;
    }
  }

  // Calls onEvent for each event of a response, which is a stream of server-sent events, until it ends. EventSource
  // could do that, but not send the key.
  async function readEvents(response, onEvent) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const events = (rest + value).split("\n\n");
      rest = events.pop();
      for (const lines of events.map((event) => event.split("\n"))) {
        const values = (key) => lines.filter((line) => line.startsWith(key)).map((line) => line.slice(key.length));
        const data = values("data: ");
        if (!data.length) continue;
        try {
          onEvent(values("event: ")[0], JSON.parse(data.join("\n")));
        } catch (error) {
          reportError(error);  // the stream goes on
        }
      }
    }
  }

  // The stream ends while the page is hidden: a browser opens six connections to a server for all of its tabs together,
  // and tabs in the background would use them up.
  function stream(experiment, onEvent, onState = () => {}) {
    if (report) return () => {};
    const path = "/stream" + (experiment === null ? "" : "?experiment=" + encodeURIComponent(experiment));
    let current = null;  // ends the stream
    let timer = 0;
    function close() {
      clearTimeout(timer);
      current?.abort();
      current = null;
    }
    async function open() {
      close();
      const { signal } = (current = new AbortController());
      try {
        const response = await request(path, { signal });
        onState(true);
        await readEvents(response, onEvent);
      } catch (error) { /* the next one may do better */ }
      if (signal.aborted) return;
      onState(false);
      timer = setTimeout(open, 3000);
    }
    const follow = () => (document.hidden ? close() : current || open());
    document.addEventListener("visibilitychange", follow);
    follow();
    return () => {
      document.removeEventListener("visibilitychange", follow);
      close();
    };
  }

  attune.net = { get, bytes, post, stream, start, login, logout, session, isReport: !!report };
})();
