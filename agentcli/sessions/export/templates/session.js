"use strict";
(() => {
  const links = new Map();
  for (const link of document.querySelectorAll("nav a")) links.set(link.dataset.id, link);
  const articles = new Map();
  for (const article of document.querySelectorAll("article")) articles.set(article.dataset.id, article);

  // Parents that the tree leaves out (labels, moves) are not among the links: the branch then begins there.
  function pathTo(id) {
    const path = new Set();
    while (links.has(id) && !path.has(id)) {
      path.add(id);
      id = links.get(id).dataset.parent;
    }
    return path;
  }

  function show(id) {
    const leaf = document.body.dataset.leaf;
    const active = pathTo(leaf);
    const path = active.has(id) ? active : pathTo(id);
    for (const [key, article] of articles) article.classList.toggle("off", !path.has(key));
    for (const [key, link] of links) link.parentElement.classList.toggle("path", path.has(key));
  }

  for (const [id, link] of links) link.addEventListener("click", () => show(id));

  function followAddress() {
    const article = location.hash && document.getElementById(location.hash.slice(1));
    if (!article) return;
    show(article.dataset.id);
    article.scrollIntoView();
  }
  addEventListener("hashchange", followAddress);
  followAddress();

  document.getElementById("filter").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const link of links.values()) {
      link.parentElement.classList.toggle("gone", !link.textContent.toLowerCase().includes(wanted));
    }
  });
})();
