// What the user shares: this site, all, or none, and the sites that are never shared.
"use strict";

const api = globalThis.browser ?? globalThis.chrome;
const ALL = "<all_urls>";
const element = (id) => document.getElementById(id);

/** The pattern of the site in front; null for a page that no extension may see. */
const site = async () => {
  const [tab] = await api.tabs.query({ active: true, currentWindow: true });
  try {
    const { protocol, hostname } = new URL(tab.url);
    return ["http:", "https:"].includes(protocol) ? `${protocol}//${hostname}/*` : null;
  } catch {
    return null;
  }
};

const show = async () => {
  const pattern = await site();
  const { origins = [] } = await api.permissions.getAll();
  const { ignored = [] } = await api.storage.local.get("ignored");
  const isIgnored = ignored.includes(pattern);
  const isAll = origins.includes(ALL);
  const isShared = !isIgnored && (isAll || origins.includes(pattern));
  const others = origins.filter((origin) => origin !== ALL).length;
  element("state").textContent =
    (pattern === null ? "This page cannot be shared. " : isShared ? "This site is shared. "
      : isIgnored ? "This site is never shared. " : "This site is not shared. ") +
    (isAll ? "All sites are, but for those that never are." : others > 0 ? `Sites that are shared: ${others}.` : "");
  element("site").hidden = pattern === null || isShared;
  element("all").hidden = isAll;
  element("never").hidden = pattern === null || isIgnored;
  element("none").hidden = origins.length === 0;
  // A browser asks the user only from within the click, so what it needs is known before.
  return { pattern, origins, ignored };
};

let known = { pattern: null, origins: [], ignored: [] };
const refresh = async () => {
  known = await show();
  document.documentElement.dataset.ready = "true";
};

const setIgnored = (ignored) => api.storage.local.set({ ignored });

const request = async (pattern) => {
  if (await api.permissions.request({ origins: [pattern] })) {
    await setIgnored(known.ignored.filter((each) => each !== known.pattern || pattern === ALL));
  }
  await refresh();
};

element("site").addEventListener("click", () => request(known.pattern));
element("all").addEventListener("click", () => request(ALL));
element("never").addEventListener("click", async () => {
  await setIgnored([...known.ignored, known.pattern]);
  await api.permissions.remove({ origins: [known.pattern] }).catch(() => {});
  await refresh();
});
element("none").addEventListener("click", async () => {
  await api.permissions.remove({ origins: known.origins });
  await refresh();
});
refresh();
