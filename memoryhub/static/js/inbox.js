// The list never moves under the pointer: what is new waits behind a button, what is gone stays until it is pressed.

const inbox = document.getElementById("inbox");
const wide = matchMedia("(width >= 72rem)");
let waiting = null;

const rows = (root) => new Map([...root.querySelectorAll("[data-row]")].map((row) => [row.dataset.row, row]));

document.addEventListener("hub:change", async () => {
  const answer = await fetch(location.href, { headers: { "X-Fragment": "1" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.getElementById("inbox-tabs").replaceWith(page.getElementById("inbox-tabs"));
  merge(page.getElementById("inbox-rows"));
});

function merge(next) {
  const list = document.getElementById("inbox-rows");
  const before = rows(list);
  const after = rows(next);
  if (!before.size) return show(next);
  for (const [id, row] of before) settle(row, after.get(id));
  tell();
  const fresh = [...after.keys()].filter((id) => !before.has(id)).length;
  waiting = next;
  announce(fresh);
}

function settle(row, next) {
  if (!next) row.classList.add("settled");
  else if (next.dataset.version !== row.dataset.version) {
    next.classList.toggle("current", row.classList.contains("current"));
    row.replaceWith(next);
  }
}

// Together are decided those of one class: with the first that is ticked, the others are out of reach.
function tell() {
  const boxes = [...document.querySelectorAll("[data-tick]")];
  const chosen = boxes.find((box) => box.checked);
  for (const box of boxes) box.disabled = Boolean(chosen) && box.dataset.tick !== chosen.dataset.tick;
}

inbox?.addEventListener("change", (event) => { if (event.target.matches("[data-tick]")) tell(); });

function announce(fresh) {
  const button = document.getElementById("inbox-fresh");
  button.hidden = !fresh;
  button.textContent = fresh === 1 ? button.dataset.one : button.dataset.many.replace("%s", fresh);
}

function show(next) {
  const open = document.querySelector("[data-row].current")?.dataset.row;
  document.getElementById("inbox-rows").replaceWith(next);
  if (open) rows(next).get(open)?.classList.add("current");
  announce(0);
  waiting = null;
}

document.getElementById("inbox-fresh")?.addEventListener("click", () => {
  if (!waiting) return location.reload();
  show(waiting);
  document.querySelector("[data-list] [data-item]")?.focus();
});

// On a wide screen a row opens beside the list.
inbox?.addEventListener("click", (event) => {
  const link = event.target.closest("[data-item]");
  if (!link || !wide.matches || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(link);
});

inbox?.addEventListener("hub:reached", (event) => {
  if (wide.matches && inbox.classList.contains("split")) open(event.target);
});

async function open(link) {
  mark(link.closest("[data-row]"));
  const answer = await fetch(link.href, { headers: { "X-Fragment": "1" } });
  if (!answer.ok) return location.assign(link.href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const action = page.querySelector(".action");
  if (!action || link.closest("[data-row]") !== document.querySelector("[data-row].current")) return;
  const pane = document.getElementById("inbox-pane");
  pane.replaceChildren(action);
  inbox.classList.add("split");
  pane.scrollTop = 0;
  action.dispatchEvent(new CustomEvent("hub:swapped", { bubbles: true }));
  history.replaceState(null, "", link.dataset.beside);
}

function mark(row) {
  for (const other of document.querySelectorAll("[data-row].current")) other.classList.remove("current");
  row.classList.add("current");
}
