// Sends what the form of a route says, as whoever is logged in, and shows what comes back.
import { call } from "./page.js";

for (const form of document.querySelectorAll("form.try")) {
  form.querySelector("button").disabled = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

async function send(form) {
  const told = form.querySelector(".told");
  const shown = form.querySelector(".answered");
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const field of form.querySelectorAll("input[data-in]")) {
    if (field.dataset.in === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    else if (field.value) query.set(field.name, field.value);
  }
  const address = query.size ? `${path}?${query}` : path;
  const body = form.elements.body?.value;
  told.textContent = "Sending …";
  const began = performance.now();
  try {
    const headers = body ? { "Content-Type": "application/json" } : {};
    const answer = await call(address, { method: form.dataset.method, headers, body: body || undefined });
    told.textContent = `${answer.status} ${answer.statusText} · ${Math.round(performance.now() - began)} ms`;
    shown.textContent = pretty(await answer.text(), answer.headers.get("content-type") ?? "");
    shown.hidden = false;
  } catch {
    told.textContent = "The server did not answer.";
  }
}

function pretty(text, kind) {
  const most = 20000;
  try {
    if (kind.includes("json")) text = JSON.stringify(JSON.parse(text), null, 2);
  } catch { /* Shown as it came. */ }
  return text.length > most ? `${text.slice(0, most)}\n… ${text.length - most} more characters` : text;
}

const open = () => document.getElementById(location.hash.slice(1))?.setAttribute("open", "");
addEventListener("hashchange", open);
open();
