// While a run on this page is queued or running, brings the list up to date.
import { call, pause } from "./page.js";
import { localise } from "./site.js";

const EVERY = 1500;
const list = document.getElementById("runs");

while (list.querySelector("[data-status=queued], [data-status=running]")) {
  await pause(EVERY);
  if (document.hidden || list.contains(document.activeElement)) continue;
  const answer = await call(location.href).catch(() => null);
  if (!answer?.ok) continue;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("runs");
  for (const one of fresh?.querySelectorAll("time[data-local]") ?? []) localise(one);
  if (fresh) list.replaceChildren(...fresh.childNodes);
}
