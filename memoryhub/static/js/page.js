// What every page has: appearance, copying, closing what is open, and decision buttons that stay inert at first.

const INERT = 500;
const shown = new WeakMap();
const loaded = performance.now();

document.addEventListener("click", (event) => {
  const button = event.target.closest(".guarded");
  if (button && performance.now() - (shown.get(button) ?? loaded) < INERT) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}, true);

export function justShown(root) {
  const now = performance.now();
  for (const button of root.querySelectorAll(".guarded")) shown.set(button, now);
}

document.addEventListener("hub:swapped", (event) => { window.htmx?.process(event.target); prepare(event.target); });
document.addEventListener("htmx:afterSwap", (event) => prepare(event.detail.elt));

function prepare(root) {
  if (!(root instanceof Element)) return;
  justShown(root);
  reveal(root);
}

function reveal(root) {
  for (const button of root.querySelectorAll("[data-copy], [data-dismiss]")) button.hidden = false;
}

document.addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const source = document.getElementById(copy.dataset.copy);
    await navigator.clipboard.writeText(source.value ?? source.textContent.trim());
    copy.classList.add("copied");
    say(copy.dataset.copied);
    setTimeout(() => copy.classList.remove("copied"), 1500);
  }
  event.target.closest("[data-dismiss]")?.closest("[data-flash]")?.remove();
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("details[data-menu][open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

export function say(text) {
  const place = document.getElementById("said");
  if (place && text) place.textContent = text;
}

for (const form of document.querySelectorAll("[data-theme-form]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const data = new FormData(form, event.submitter);
    const answer = await fetch(form.action, { method: "POST", body: data, redirect: "manual" });
    if (answer.type === "opaqueredirect" || answer.ok) wear(data.get("theme"));
  });
}

function wear(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  for (const button of document.querySelectorAll("[data-theme-form] button")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
}

// The server writes times in the zone the browser is in, unless the person chose one.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.includes(`zone=${encodeURIComponent(zone)}`)) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `zone=${encodeURIComponent(zone)}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}
for (const field of document.querySelectorAll("input[data-zone]")) field.value ||= zone;

reveal(document);

// What a passkey could not do, or a person did not want, is said on the page.
document.addEventListener("allauth.error", (event) => {
  const place = document.getElementById("passkey-trouble");
  if (!place) return;
  event.preventDefault();
  place.hidden = false;
});

// How much time is left was written by the server; here it runs down.
const inDays = new Intl.NumberFormat(document.documentElement.lang, { style: "unit", unit: "day", unitDisplay: "long" });
setInterval(() => { for (const place of document.querySelectorAll("[data-until]")) place.textContent = left(place); }, 1000);

function left(place) {
  const seconds = Math.max(0, Math.round((Date.parse(place.dataset.until) - Date.now()) / 1000));
  const clock = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, "0"));
  const days = Math.floor(seconds / 86_400);
  return `${days ? `${inDays.format(days)} ` : ""}${clock.join(":")}`;
}

document.addEventListener("toggle", (event) => {
  if (event.target.open) event.target.querySelector?.("[data-first]")?.focus();
}, true);
