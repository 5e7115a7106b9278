// On every page: times in the reader's zone, buttons that copy, and the keyboard.
for (const one of document.querySelectorAll("[data-local]")) localise(one);

// The middle of a picture that is wider than the screen tells more than its left end.
for (const one of document.querySelectorAll(".graph")) one.scrollLeft = (one.scrollWidth - one.clientWidth) / 2;

export function localise(one) {
  // A word of a picture has no time of its own.
  const moment = new Date(one.dateTime ?? one.dataset.local);
  if (Number.isNaN(moment.getTime())) return;
  // In the reader's zone, and written as the page writes its days.
  one.textContent = moment.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  const said = button.textContent;
  try {
    await navigator.clipboard.writeText(source.dataset.text ?? source.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Selected: press Ctrl-C";
  }
  setTimeout(() => (button.textContent = said), 2000);
});
for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;

const keys = document.getElementById("keys");
const places = { a: "/", s: "/search", e: "/events", d: "/documents", t: "/lists", m: "/memory", l: "/log", h: "/help" };
let going = false;

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") return closeMenu();
  if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  if (going && places[event.key]) return location.assign(places[event.key]);
  going = event.key === "g";
  if (event.key === "/") {
    event.preventDefault();
    const box = document.querySelector("main [role=search] input, main input[type=search]");
    if (box) box.focus();
    else location.assign("/");
  } else if (event.key === "?") keys?.showModal();
  else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
});

// Whoever was in it stands at its name again.
function closeMenu() {
  const menu = document.querySelector(".more[open]");
  if (menu?.contains(document.activeElement)) menu.querySelector("summary").focus();
  menu?.removeAttribute("open");
}

// From one item of the page's list to the next.
function step(by) {
  const lists = "main .events > li, main .hits > li, main .list tbody tr, main .sources > li, main .tree > li";
  const items = [...document.querySelectorAll(lists)].filter((one) => one.checkVisibility());
  if (!items.length) return;
  const here = items.findIndex((one) => one.contains(document.activeElement));
  const next = items[Math.min(items.length - 1, Math.max(0, here + by))];
  const link = next.querySelector("a, button");
  if (link) link.focus();
  next.scrollIntoView({ block: "nearest" });
}

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".more[open]")) if (!menu.contains(event.target)) menu.removeAttribute("open");
});
