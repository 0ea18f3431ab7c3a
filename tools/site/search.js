// Search over the sections of the manual.  The index is a script, so that it also works from file://.
"use strict";
(function () {
  const input = document.getElementById("search");
  const found = document.getElementById("found");
  const menu = document.querySelector(".pages");
  const top = document.body.dataset.top;
  const wide = matchMedia("(min-width: 52.01rem)");

  function unfold() { if (wide.matches) menu.open = true; }
  unfold();
  wide.addEventListener("change", unfold);

  function words(text) { return text.toLowerCase().split(/[^\p{L}\p{N}_-]+/u).filter(Boolean); }

  // All words must occur; one in a title counts more, at the beginning of a word more still.
  function score(entry, query) {
    const title = (entry.page + " " + entry.section).toLowerCase(), text = entry.text.toLowerCase();
    let sum = 0;
    for (const word of query) {
      const inTitle = title.indexOf(word), inText = text.indexOf(word);
      if (inTitle < 0 && inText < 0) return 0;
      if (inTitle >= 0) sum += words(title).includes(word) ? 12 : 6;
      if (inText >= 0) sum += /\W/.test(text[inText - 1] || " ") ? 2 : 1;
    }
    return sum;
  }

  // Text with the words of the query marked, as nodes: nothing of it is taken for HTML.
  function marked(text, query) {
    const part = document.createDocumentFragment(), low = text.toLowerCase();
    let at = 0;
    while (at < text.length) {
      let next = text.length, length = 0;
      for (const word of query) {
        const i = low.indexOf(word, at);
        if (i >= 0 && i < next) { next = i; length = word.length; }
      }
      part.append(text.slice(at, next));
      if (length) {
        const mark = document.createElement("mark");
        mark.textContent = text.slice(next, next + length);
        part.append(mark);
      }
      at = next + (length || 1);
    }
    return part;
  }

  function excerpt(text, query) {
    const at = Math.max(0, ...query.map((word) => text.toLowerCase().indexOf(word)));
    const begin = at > 40 ? text.indexOf(" ", at - 40) + 1 : 0;
    return (begin ? "… " : "") + text.slice(begin, begin + 110);
  }

  function show() {
    const query = words(input.value);
    found.replaceChildren();
    if (!query.length) return;
    const best = window.CREDENCE_INDEX.map((entry) => [score(entry, query), entry])
      .filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]).slice(0, 12);
    for (const [, entry] of best) {
      const item = document.createElement("li"), link = document.createElement("a");
      const where = entry.section ? entry.page + " › " + entry.section : entry.page;
      const text = document.createElement("small");
      link.href = top + entry.url;
      link.append(marked(where, query));
      text.append(marked(excerpt(entry.text, query), query));
      link.append(text);
      item.append(link);
      found.append(item);
    }
    if (!best.length) {
      const item = document.createElement("li");
      item.textContent = "nothing found";
      found.append(item);
    }
  }

  input.addEventListener("input", show);
  input.addEventListener("keydown", (event) => {
    const first = found.querySelector("a");
    if (event.key === "Enter" && first) first.click();
    if (event.key === "Escape") { input.value = ""; show(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== input) { event.preventDefault(); input.focus(); }
  });
})();
