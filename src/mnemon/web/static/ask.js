// The answer's page is whole without it: a source opens beside the answer where there is room.
import { call, element } from "./page.js";

const shown = document.getElementById("answer");
// Elsewhere, and with a key held down, it is a link like any other.
const beside = document.getElementById("beside");
let cameFrom = null;
const roomy = matchMedia("(min-width: 64rem)");

shown?.addEventListener("click", async (event) => {
  const link = event.target.closest("a.cite, .sources a");
  if (!link || !roomy.matches || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const answer = await call(link.href).catch(() => null);
  const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  const source = page?.getElementById("source");
  if (!source) return location.assign(link.href);
  const close = element("button", { type: "button", class: "quiet small" }, "Close");
  close.addEventListener("click", closeBeside);
  const title = page.querySelector("h1")?.textContent ?? "Source";
  beside.replaceChildren(
    element("p", { class: "heading" }, element("a", { href: link.href }, title), close),
    source,
  );
  beside.hidden = false;
  cameFrom = link;
  document.body.classList.add("with-source");
  const cited = beside.querySelector("#cited, rect");
  // Whoever has no mouse goes on in the source, and comes back with Escape.
  if (!event.detail) beside.querySelector("a").focus({ preventScroll: true });
  // The page itself stays where it is: only what stands beside it is moved.
  if (cited) beside.scrollTop += cited.getBoundingClientRect().top - beside.getBoundingClientRect().top - innerHeight / 3;
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeBeside();
});

function closeBeside() {
  if (beside.contains(document.activeElement)) cameFrom?.focus();
  beside.hidden = true;
  beside.replaceChildren();
  document.body.classList.remove("with-source");
}
