// What a page lacks for those who do not see it, see it badly, or have no mouse; looked for in the page itself.
(() => {
  const problems = [];
  const say = (what, one) => problems.push(`${what}: ${one.outerHTML.slice(0, 120)}`);
  const shown = (one) => one.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });

  // Names of what can be used.
  const textOf = (ids) => ids.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
  const nameOf = (one) =>
    (one.getAttribute("aria-label") ?? "") +
    (one.getAttribute("aria-labelledby") ? textOf(one.getAttribute("aria-labelledby")) : "") +
    [...(one.labels ?? [])].map((label) => label.textContent).join(" ") +
    (one.matches("input, select, textarea") ? "" : one.textContent) +
    (one.querySelector?.("img[alt]")?.alt ?? "");
  for (const one of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary"))
    if (shown(one) && !nameOf(one).trim()) say("no name", one);
  for (const one of document.querySelectorAll("img:not([alt])")) say("no alternative text", one);
  for (const one of document.querySelectorAll("svg"))
    if (shown(one) && !one.closest("[aria-hidden=true]") && !(one.hasAttribute("role") && one.getAttribute("aria-label"))) say("no role and name", one);

  // What holds the page together.
  if (!document.documentElement.lang) problems.push("no language");
  if (!document.title.trim()) problems.push("no title");
  for (const [what, selector] of [["main", "main"], ["h1", "h1"]])
    if ([...document.querySelectorAll(selector)].filter(shown).length !== 1) problems.push(`not one ${what}`);
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) problems.push(`twice the id ${id}`);
  let last = 1;
  for (const one of document.querySelectorAll("main h1, main h2, main h3, main h4")) {
    const level = Number(one.tagName[1]);
    if (level > last + 1) say(`a heading of level ${level} after ${last}`, one);
    last = level;
  }
  for (const one of document.querySelectorAll("th:not([scope])")) if (!one.closest(".prose, .text")) say("no scope", one);
  for (const one of document.querySelectorAll("[role]"))
    if (!"alert status search img group list dialog navigation tooltip".split(" ").includes(one.getAttribute("role"))) say("an odd role", one);
  for (const one of document.querySelectorAll("[aria-labelledby], [aria-describedby], label[for]"))
    for (const id of (one.getAttribute("aria-labelledby") ?? one.getAttribute("aria-describedby") ?? one.htmlFor).split(/\s+/))
      if (!document.getElementById(id)) say("names what is not there", one);
  for (const one of document.querySelectorAll("[tabindex]")) if (one.tabIndex > 0) say("an order of its own", one);
  if (document.documentElement.scrollWidth > innerWidth) problems.push(`wider than the screen: ${document.documentElement.scrollWidth}`);

  // Contrast, as WCAG AA asks: 4.5, and 3 for large letters.
  const colour = (text) => {
    const found = text.match(/-?[\d.]+(?:e-?\d+)?/g)?.map(Number);
    if (!found) return [0, 0, 0, 0];
    const scale = text.startsWith("color(") ? 255 : 1;
    return [found[0] * scale, found[1] * scale, found[2] * scale, found[3] ?? 1];
  };
  const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
  const groundOf = (one) => {
    const layers = [];
    for (let each = one; each; each = each.parentElement) layers.push(colour(getComputedStyle(each).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (seen.has(one) || !walker.currentNode.textContent.trim() || !shown(one) || one.closest(":disabled, option, title, script, .hidden, .skip")) continue;
    seen.add(one);
    const style = getComputedStyle(one);
    const ground = groundOf(one);
    const ink = over(colour(one instanceof SVGElement ? style.fill : style.color), ground);
    const [bright, dark] = [light(ink), light(ground)].sort((a, b) => b - a);
    const ratio = (bright + 0.05) / (dark + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5) - 0.005) say(`contrast ${ratio.toFixed(2)}`, one);
  }
  return [...new Set(problems)];
})()
