// The log as it grows: while one follows it, the page reads itself again whenever the server says that there is more.
import { call } from "./page.js";
import { localise } from "./site.js";

const button = document.getElementById("follow");
const said = document.getElementById("following");
let source = null;

function follow() {
  source = new EventSource("/log/tail");
  source.addEventListener("open", () => (said.textContent = "Following: new events come in at the top."));
  source.addEventListener("more", renew);
  source.addEventListener("error", () => (said.textContent = "The connection was lost; trying again …"));
}

function stop() {
  source.close();
  source = null;
  said.textContent = "";
}

async function renew() {
  const answer = await call(location.href).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#tail tbody");
  const shown = document.querySelector("#tail tbody");
  if (!fresh || shown.contains(document.activeElement)) return;
  const known = new Set([...shown.querySelectorAll("a[href^='/log/']")].map((one) => one.getAttribute("href")));
  for (const row of fresh.rows) row.classList.toggle("fresh", !known.has(row.querySelector("a").getAttribute("href")));
  for (const one of fresh.querySelectorAll("time[data-local]")) localise(one);
  shown.replaceWith(document.adoptNode(fresh));
}

if (button) {
  button.hidden = false;
  button.addEventListener("click", () => {
    source ? stop() : follow();
    button.setAttribute("aria-pressed", String(Boolean(source)));
    button.textContent = source ? "Stop" : "Follow";
  });
  addEventListener("pagehide", () => source?.close());
}
