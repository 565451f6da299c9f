// Single letters. An element says which letter presses it (data-key), and lists say what their items are (data-item).

const GO = 1200;
let going = -Infinity;

const enabled = () => document.body.dataset.shortcuts === "on";
const visible = (element) => element.checkVisibility({ visibilityProperty: true });
const items = () => [...document.querySelectorAll("[data-list] [data-item]")].filter(visible);

function typing(target) {
  return target.isContentEditable || target.matches("input:not([type=checkbox], [type=radio]), textarea, select");
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (event.key === "?") return help(event);
  if (!enabled()) return;
  const letter = event.key.toLowerCase();
  const chosen = performance.now() - going < GO
    ? document.querySelector(`[data-go="${CSS.escape(letter)}"]`)
    : action(letter);
  going = letter === "g" ? performance.now() : -Infinity;
  if (!chosen) return;
  event.preventDefault();
  typeof chosen === "function" ? chosen() : chosen.click();
});

function action(letter) {
  if (letter === "j") return () => move(1);
  if (letter === "k") return () => move(-1);
  if (letter === "o") return here();
  if (letter === "x") return tick();
  if (letter === "/") return search();
  return [...document.querySelectorAll(`[data-key="${CSS.escape(letter)}"]`)].find(visible);
}

function here() {
  return items().find((item) => item === document.activeElement) ?? null;
}

function tick() {
  const row = document.activeElement.closest("[data-row]") ?? document.querySelector("[data-row].current");
  return row?.querySelector("[data-tick]:enabled");
}

function search() {
  const box = document.querySelector("[data-search]");
  if (!box) return document.querySelector('[data-go="m"]'); // memories are where one searches
  return () => { box.focus(); box.select?.(); };
}

function move(step) {
  const all = items();
  if (!all.length) return;
  const current = all.findIndex((item) => item === document.activeElement);
  const marked = all.findIndex((item) => item.closest(".current"));
  const at = current >= 0 ? current : marked;
  const next = all[Math.min(Math.max(at + step, 0), all.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  next.dispatchEvent(new CustomEvent("hub:reached", { bubbles: true }));
}

function help(event) {
  const dialog = document.getElementById("keyboard-help");
  if (!dialog) return;
  event.preventDefault();
  dialog.togglePopover();
}
