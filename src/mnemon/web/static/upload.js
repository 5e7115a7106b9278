// Uploads files one after the other, and follows each until it is read.
import { call, element, pause } from "./page.js";

const form = document.getElementById("upload");
const picker = document.getElementById("files");
const drop = form.querySelector(".drop");
const list = document.getElementById("uploads");
const worker = document.getElementById("worker");
const SOONEST = 300, LATEST = 3000;
let line = Promise.resolve();

picker.addEventListener("change", () => {
  take([...picker.files]);
  picker.value = "";
});
for (const kind of ["dragenter", "dragover"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
}
for (const kind of ["dragleave", "drop"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.remove("over");
  });
}
drop.addEventListener("drop", (event) => take([...event.dataTransfer.files]));
form.addEventListener("submit", (event) => event.preventDefault());

function take(files) {
  for (const file of files) {
    const row = new Row(file);
    line = line.then(() => row.send()).then(() => void row.follow());
  }
}

class Row {
  constructor(file) {
    this.file = file;
    this.runId = null;
    this.name = element("span", { class: "name" }, file.name);
    this.state = element("span", { class: "state" }, "waiting");
    this.reason = element("span", { class: "reason" });
    this.bar = element("progress", { max: 100, value: 0, "aria-label": `Upload of ${file.name}` });
    this.item = element("li", {}, this.name, this.state, this.bar, this.reason);
    list.prepend(this.item);
  }

  show(state, reason = "") {
    this.state.textContent = state;
    this.state.className = `state ${state}`;
    this.reason.textContent = reason;
    if (state !== "uploading") this.bar.remove();
  }

  async send() {
    if (this.file.size > Number(form.dataset.largest)) return this.show("refused", "This file is too large.");
    this.show("uploading");
    this.item.insertBefore(this.bar, this.reason);
    const body = new FormData();
    for (const name of ["tags", "visibility_scope", "retention_policy", "new_version_of"]) {
      if (form.elements[name].value.trim()) body.append(name, form.elements[name].value);
    }
    body.append("file", this.file);
    const [status, told] = await this.post(body);
    if (status === 401) return location.assign("/login?next=/upload");
    if (status === 202 || status === 200) {
      this.link(told.doc_id, told.run_id);
      this.show(told.status, told.reason ?? "");
    } else {
      this.show("refused", told?.error ?? "The connection was lost: choose the file again.");
    }
  }

  // XMLHttpRequest, since fetch tells nothing about the progress of an upload.
  post(body) {
    return new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open("POST", "/v1/ingest");
      request.responseType = "json";
      request.upload.onprogress = ({ loaded, total }) => (this.bar.value = (100 * loaded) / total);
      request.onload = () => resolve([request.status, request.response]);
      request.onerror = () => resolve([0, null]);
      request.send(body);
    });
  }

  link(docId, runId) {
    this.runId = runId ?? null;
    this.docId = docId;
    if (!runId) this.openable();
  }

  openable() {
    this.name.replaceChildren(element("a", { href: `/documents/${this.docId}` }, this.file.name));
  }

  async follow() {
    for (let wait = SOONEST; this.runId; wait = Math.min(wait * 1.3, LATEST)) {
      const answer = await call(`/v1/ingestion-runs/${this.runId}`).catch(() => null);
      if (answer?.ok) await this.tell(await answer.json());
      await pause(wait);
    }
  }

  async tell(run) {
    if (run.status === "queued") return this.show("queued", (await hasWorker()) ? "" : "no worker is running");
    foundWorker();
    if (run.status === "running") return this.show("running", run.stage ?? "");
    this.runId = null;
    if (run.status === "failed") return this.failed(run);
    this.openable();
    const count = run.stats?.chunks_created ?? 0;
    return this.show("succeeded", `${count} passage${count === 1 ? "" : "s"}`);
  }

  failed(run) {
    this.show("failed", run.error ?? "");
    const again = element("button", { type: "button", class: "quiet small" }, "Retry");
    again.addEventListener("click", async () => {
      again.remove();
      const answer = await call(`/v1/ingestion-runs/${run.run_id}/retry`, { method: "POST" }).catch(() => null);
      if (!answer?.ok) return this.failed(run);
      this.runId = run.run_id;
      this.show("queued");
      this.follow();
    });
    this.item.append(again);
  }
}

let asked = 0, known = true;

// Many rows wait for the same worker: one question a second is enough.
async function hasWorker() {
  if (Date.now() - asked < 1000) return known;
  asked = Date.now();
  const answer = await call("/upload/worker").catch(() => null);
  if (answer?.ok) known = (await answer.json()).alive;
  worker.hidden = known;
  return known;
}

// A run that was begun had one.
function foundWorker() {
  known = true;
  worker.hidden = true;
}

hasWorker();
