// Asks, and shows the answer as it comes: the passages found, each proven sentence, or the refusal.
import { call, element, placeOf, reasonOf } from "./page.js";

const form = document.getElementById("ask");
const progress = document.getElementById("progress");
const understood = document.getElementById("understood");
const shown = document.getElementById("answer");
let asking = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const wanted = Object.fromEntries([...new FormData(form)].filter(([, value]) => value.trim()));
  if (!wanted.question) return;
  history.pushState(null, "", `/?${new URLSearchParams(wanted)}`);
  closeBeside();
  ask(wanted);
});
addEventListener("popstate", () => location.reload());

async function ask(wanted) {
  asking?.abort();
  asking = new AbortController();
  document.getElementById("glance")?.remove();
  shown.replaceChildren();
  understood.replaceChildren();
  progress.textContent = "Searching …";
  try {
    const answer = await call("/v1/ask", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify(wanted),
      signal: asking.signal,
    });
    if (!answer.ok) return fail(await reasonOf(answer));
    const page = new AnswerPage(wanted.question);
    for await (const [name, data] of messages(answer.body)) page.take(name, data);
  } catch (problem) {
    if (problem.name !== "AbortError") fail("The connection to the server was lost: ask again.");
  }
}

function fail(reason) {
  progress.textContent = "";
  shown.replaceChildren(element("p", { class: "problem", role: "alert" }, reason));
}

class AnswerPage {
  constructor(question) {
    this.number = 0;
    this.said = [question, ""];
    this.cited = [];
    this.text = element("div", { class: "answer" });
    this.sources = element("ol", { class: "sources" });
  }

  take(name, data) {
    if (name === "evidence") progress.textContent = `${data.passages.length} passages found, weighing them …`;
    if (name === "sentence") this.addSentence(data);
    if (name === "refusal") shown.append(refusalOf(data));
    if (name === "done") {
      progress.textContent = summaryOf(data);
      understood.replaceChildren(...limitsOf(data));
      if (this.cited.length) shown.append(this.copy(data.query_id));
    }
    if (name === "error") fail(data.error);
  }

  addSentence(sentence) {
    if (!this.text.isConnected) shown.append(this.text, element("h2", {}, "Sources"), this.sources);
    const paragraph = element("p", {}, oneLine(`${sentence.note} ${sentence.text}`), " ");
    for (const citation of sentence.citations) {
      this.number += 1;
      const label = `Source ${this.number}: ${citation.title}`;
      const title = `“${oneLine(citation.quote).slice(0, 300)}”`;
      const link = element("a", { href: placeOf(citation), class: "cite", "aria-label": label, title }, `[${this.number}]`);
      paragraph.append(link);
      this.sources.append(sourceOf(citation));
      this.cited.push(`[${this.number}] ${citation.title}, ${whereOf(citation)}: “${oneLine(citation.quote)}” ${evidenceOf(citation)}`);
    }
    this.said.push(paragraph.textContent.trim(), "");
    this.text.append(paragraph);
  }

  copy(id) {
    const text = element("pre", { id: "copied-answer", hidden: "" }, [...this.said, ...this.cited].join("\n"));
    return element("p", {}, element("button", { type: "button", class: "quiet small", "data-copy": "copied-answer" }, "Copy with citations"), " ", ...savedAs(id), text);
  }
}

const savedAs = (id) => [
  element("a", { href: `/answers/${id}/file?form=html`, download: "" }, "Save with proof"), " ",
  element("a", { href: `/answers/${id}/file`, download: "" }, "JSON"),
];

const evidenceOf = ({ doc_version_id, start, end }) => `${location.origin}/evidence/${doc_version_id}/${start}-${end}`;

function whereOf(citation) {
  const where = [`version ${citation.version_number}`];
  if (citation.first_page) where.push(`page ${citation.first_page}`);
  if (citation.headings.length) where.push(citation.headings.at(-1));
  if (citation.speaker) where.push(citation.speaker);
  return where.join(" · ");
}

function sourceOf(citation) {
  return element(
    "li", {},
    element("a", { href: placeOf(citation) }, citation.title), " ",
    element("small", {}, whereOf(citation)),
    element("blockquote", {}, oneLine(citation.quote)),
  );
}

function refusalOf(refusal) {
  const { searched } = refusal;
  const unknown = searched.unknown_words.length ? ` None of them has ${searched.unknown_words.join(", ")}.` : "";
  const box = element(
    "div", { class: "refusal" },
    element("p", {}, element("strong", {}, "No answer. "), refusal.message),
    element("p", { class: "hint" }, `${searched.chunks} passages searched.${unknown}`),
  );
  if (refusal.near_misses.length) {
    const far = refusal.near_misses.every((miss) => !miss.relevant);
    box.append(element("h2", {}, far ? "What came nearest, though not near enough" : "What came nearest"));
  }
  const misses = refusal.near_misses.map((miss) =>
    element("li", {}, element("a", { href: placeOf(miss) }, miss.title), miss.day ? `, ${miss.day}` : "", element("blockquote", {}, oneLine(miss.snippet.replace(/^\s*#{1,6}\s+/gm, "")))),
  );
  box.append(element("ul", { class: "sources" }, ...misses));
  return box;
}

function summaryOf(answer) {
  const words = answer.model ? `Written by ${answer.model}, every quote checked` : "In the sources' own words";
  const dropped = answer.dropped ? `; ${answer.dropped} unproven sentences left out` : "";
  const search = answer.lexical_only ? "; searched by words only" : "";
  return `${answer.outcome === "answered" ? words + dropped : "Refused"}${search} · ${answer.seconds.toFixed(2)} s`;
}

function limitsOf({ question, understood: { asked_as: full, ...limits } }) {
  const told = Object.values(limits).join(", ");
  const lines = [told && `Read from the question: ${told}`, full && `Asked as: ${full}`].filter(Boolean);
  if (!lines.length) return [];
  const plain = `/?${new URLSearchParams({ question, as_words: "true" })}`;
  return [`${lines.join(" · ")} · `, element("a", { href: plain }, "take it word by word")];
}

const oneLine = (text) => text.replace(/\s+/g, " ").trim();

// Server-sent events from a POST, which EventSource cannot send.
async function* messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const [first, second] = block.split("\n");
      yield [first.slice("event: ".length), JSON.parse(second.slice("data: ".length))];
    }
  }
}

// A source opens beside the answer where there is room; elsewhere, and with a key held down, it is a link like any other.
const beside = document.getElementById("beside");
const roomy = matchMedia("(min-width: 64rem)");

shown.addEventListener("click", async (event) => {
  const link = event.target.closest("a.cite, .sources a");
  if (!link || !roomy.matches || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const answer = await call(link.href).catch(() => null);
  const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  const source = page?.getElementById("source");
  if (!source) return location.assign(link.href);
  const close = element("button", { type: "button", class: "quiet small" }, "Close");
  close.addEventListener("click", () => {
    closeBeside();
    link.focus();
  });
  const title = page.querySelector("h1")?.textContent ?? "Source";
  beside.replaceChildren(
    element("p", { class: "heading" }, element("a", { href: link.href }, title), close),
    source,
  );
  beside.hidden = false;
  document.body.classList.add("with-source");
  beside.querySelector("#cited, rect")?.scrollIntoView({ block: "center" });
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeBeside();
});

function closeBeside() {
  beside.hidden = true;
  beside.replaceChildren();
  document.body.classList.remove("with-source");
}
