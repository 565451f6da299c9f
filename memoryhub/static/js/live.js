// The socket only says that something changed; what changed is then fetched, so that access is decided in one place.
// While the socket is down, the same question is asked every 15 seconds.

const POLL = 15_000;
const PATIENCE = 2_000; // a page that has just opened is not yet late
const ENDED = 4401; // signed out, or no longer of this team or space
const path = document.body.dataset.live;
const pulse = document.body.dataset.pulse;
let version = document.body.dataset.version ?? null;
let polling = null;
let tries = 0;
let asking = false;
let live = false;

if (path) {
  connect();
  setTimeout(() => { if (!live) show("reconnecting"); }, PATIENCE);
}

function connect() {
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`);
  socket.addEventListener("open", () => { tries = 0; live = true; stopPolling(); show("live"); ask(); });
  socket.addEventListener("message", (event) => (JSON.parse(event.data).topic === "inbox" ? ask() : freshenAll()));
  socket.addEventListener("close", (event) => {
    if (live) show("reconnecting");
    live = false;
    startPolling();
    if (event.code === ENDED) return location.reload();
    tries += 1;
    setTimeout(connect, Math.min(30_000, 500 * 2 ** tries) * (0.75 + Math.random() / 2));
  });
}

function startPolling() { polling ??= setInterval(() => { ask(); freshenAll(); }, POLL); }
function stopPolling() { clearInterval(polling); polling = null; }

async function ask() {
  if (asking) { asking = "again"; return; }
  asking = true;
  try {
    const answer = await fetch(pulse, { headers: { Accept: "application/json" }, redirect: "error" });
    if (answer.status === 404) return location.reload(); // no longer of this team or space
    if (answer.ok) hear(await answer.json());
  } catch { /* the next poll or message asks again */ }
  const again = asking === "again";
  asking = false;
  if (again) ask();
}

function hear(news) {
  count(news.waiting); // which follows the person's rights too
  if (String(news.version) === version) return;
  version = String(news.version);
  document.dispatchEvent(new CustomEvent("hub:change", { detail: news }));
}

function count(waiting) {
  for (const place of document.querySelectorAll("[data-waiting]")) {
    place.textContent = waiting > 99 ? "99+" : waiting;
    place.hidden = !waiting;
  }
  const bare = document.title.replace(/^\(\d+\+?\) /, "");
  document.title = waiting ? `(${waiting}) ${bare}` : bare;
}

function show(state) {
  for (const place of document.querySelectorAll("[data-live-state]")) {
    place.hidden = false;
    place.dataset.liveState = state;
    place.querySelector("[data-live-word]").textContent =
      state === "live" ? place.dataset.wordLive : place.dataset.wordReconnecting;
  }
}

// Parts of a page that follow changes: fetched anew, and put in place of themselves if their version differs.
document.addEventListener("hub:change", freshenAll);

async function freshenAll() {
  for (const part of document.querySelectorAll("[data-fresh]")) await freshen(part);
}

async function freshen(part) {
  const answer = await fetch(part.dataset.fresh, { headers: { "X-Fragment": "1" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById(part.id);
  if (!next || next.dataset.version === part.dataset.version || !part.isConnected) return;
  part.replaceWith(next);
  next.dispatchEvent(new CustomEvent("hub:swapped", { bubbles: true }));
}
