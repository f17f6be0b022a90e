// Between the pages that the user shares and the host: which tab is in front, what has focus in it, and the tabs' commands.
"use strict";

const api = globalThis.browser ?? globalThis.chrome;
const HOST = "org.focusd.browser";
const FILES = ["dom", "text", "element", "writing", "focus"].map((name) => `page/${name}.js`);
const ZOOMS = [0.25, 0.33, 0.5, 0.67, 0.75, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5];
const FIRST_DELAY = 250;
const LONGEST_DELAY = 20000;
/** How often it looks whether the browser is still in front, where no event tells, in milliseconds. */
const FRONT_LOOK = 1000;
/** The host shows no longer title or address. */
const LONGEST = 8192;

// MARK: What the user shares

let ignored = [];

/** Whether the user shares a page, by its address. */
const isShared = async (address) => {
  try {
    const { protocol, hostname } = new URL(address);
    const site = `${protocol}//${hostname}/*`;
    return !ignored.includes(site) && (await api.permissions.contains({ origins: [site] }));
  } catch {
    return false;
  }
};

/** The address that says whose a document is: an empty frame is of who made it, a sandboxed one of nobody. */
const addressOf = ({ url, origin, tab }) => {
  if (/^(https?|file):/.test(url ?? "")) return url;
  if (/^https?:/.test(origin ?? "")) return `${origin}/`;
  return tab?.url?.startsWith("file:") ? tab.url : "";
};

let sharing = Promise.resolve();

/** Takes over what the user shares now, in pages that are open and in those that come. */
const share = () => {
  sharing = sharing.then(async () => {
    const { origins = [] } = await api.permissions.getAll();
    ({ ignored = [] } = await api.storage.local.get("ignored"));
    await api.scripting.unregisterContentScripts({ ids: ["page"] }).catch(() => {});
    for (const page of [...pages.values()]) {
      if (!(await isShared(page.address))) end(page);
    }
    if (origins.length > 0) {
      await api.scripting.registerContentScripts([{
        id: "page", js: FILES, matches: origins, ...(ignored.length > 0 && { excludeMatches: ignored }),
        allFrames: true, matchOriginAsFallback: true, runAt: "document_start",
      }]);
    }
    for (const tab of await api.tabs.query({})) {
      if (await isShared(tab.url)) {
        api.scripting.executeScript({ target: { tabId: tab.id, allFrames: true }, files: FILES }).catch(() => {});
      }
    }
    tellFront();
  }).catch(() => {});
};

// MARK: The host

let host = null;
let delay = FIRST_DELAY;
/** What the host was told of the tabs that were in front last, so that it is told once; it keeps as many. */
let toldTabs = new Map();
const KEPT_TABS = 8;
let toldFront;

const send = (message) => {
  try {
    host?.postMessage(message);
  } catch {
    host = null;
  }
};

/** Answers the host that has asked: the calls of the next are numbered from one again. */
const reply = (asker, message) => {
  if (asker === host) send({ type: "reply", ...message });
};

const connect = () => {
  const since = Date.now();
  const port = api.runtime.connectNative(HOST);
  host = port;
  toldTabs = new Map();
  toldFront = undefined;
  host.onMessage.addListener((request) => {
    perform(request, port).catch(() => reply(port, { call: request.call, error: "refused" }));
  });
  host.onDisconnect.addListener(() => {
    // Reading it tells the browser that nobody else has to be told.
    void api.runtime.lastError;
    host = null;
    for (const page of pages.values()) page.calls.clear();
    delay = Date.now() - since > 5000 ? FIRST_DELAY : Math.min(delay * 2, LONGEST_DELAY);
    setTimeout(connect, delay);
  });
  tellFront();
};

// MARK: Pages

/** The documents that are shared, by number; each with what has focus in it, and the calls that it has not answered. */
const pages = new Map();
/** The document of each tab that has the tab's focus. */
const current = new Map();
let lastPage = 0;

const end = (page) => {
  // Nothing can be told a document that was closed meanwhile.
  if (!pages.has(page.number)) return;
  page.port.postMessage({ type: "end" });
  forget(page);
};

const forget = (page) => {
  if (!pages.delete(page.number)) return;
  if (current.get(page.tab) === page) {
    current.delete(page.tab);
    if (toldTabs.has(page.tab)) send({ type: "blur", tab: page.tab });
  }
  for (const call of page.calls.values()) send({ type: "reply", call, error: "gone" });
  send({ type: "gone", document: page.number });
  if (page.frame === 0) tellTab(page.tab);
};

const setCurrent = (page) => {
  const before = current.get(page.tab);
  if (before === page) return;
  before?.port.postMessage({ type: "rest" });
  current.set(page.tab, page);
};

/** Tells what has focus in a tab. */
const tellFocus = (tab) => {
  if (!toldTabs.has(tab)) return;
  const page = current.get(tab);
  if (page?.focus && !page.isAside) send({ type: "focus", tab, document: page.number, ...page.focus });
  else send({ type: "blur", tab });
};

/** How long the browser may take to tell that its window went behind others, in milliseconds. */
const BROWSER_DELAY = 250;

/** Tells that nothing in a document has focus if it has lost it, and the window has not: the address bar has it then. */
const putAside = async (page) => {
  await tellFront();
  if (!page.hasLeft || page.isAside || current.get(page.tab) !== page || toldFront !== page.tab) return;
  page.isAside = true;
  tellFocus(page.tab);
};

const pageSaid = (page, message) => {
  if (!pages.has(page.number)) return;
  const { type, element, state } = message;
  switch (type) {
    case "focus":
    case "blur": {
      const wasAside = page.isAside;
      // A document without the keyboard takes the tab's focus from no other.
      if (!message.isActive && (current.get(page.tab) ?? page) !== page) break;
      if (message.isActive) {
        [page.hasLeft, page.isAside] = [false, false];
        // Chromium on X11 does not tell that its window is in front again if the keyboard is in the page.
        if (toldFront !== page.tab) tellFront();
      }
      const isSame =
        type === "focus" && page.focus?.element === element && current.get(page.tab) === page && wasAside === page.isAside;
      setCurrent(page);
      page.isInFrame = false;
      page.focus = type === "focus" ? { element, state } : null;
      if (!isSame) tellFocus(page.tab);
      else if (toldTabs.has(page.tab)) send({ type: "state", document: page.number, element, state });
      break;
    }
    case "frame":
      // The frame's document says so itself, unless it is not shared.
      page.focus = null;
      page.isInFrame = true;
      if (current.get(page.tab) === page) tellFocus(page.tab);
      break;
    case "left": {
      page.hasLeft = true;
      setTimeout(() => putAside(page), BROWSER_DELAY);
      const top = [...pages.values()].find(({ tab, frame }) => tab === page.tab && frame === 0);
      if (top !== page) top?.port.postMessage({ type: "ask" });
      break;
    }
    case "asked": {
      const holder = current.get(page.tab);
      if (message.hasFocus && holder && holder !== page && holder.hasLeft) {
        current.delete(page.tab);
        tellFocus(page.tab);
      }
      break;
    }
    case "reply": {
      const call = page.calls.get(message.call);
      if (state && page.focus?.element === element) page.focus.state = state;
      // A host that has gone since has no use for it, and the next has calls of the same numbers.
      if (!page.calls.delete(message.call)) break;
      send({ ...message, call, ...(element !== undefined && { document: page.number }) });
      break;
    }
    default: break;
  }
};

api.runtime.onConnect.addListener(async (port) => {
  const { sender } = port;
  if (port.name !== "page" || !sender.tab || sender.tab.incognito) return;
  lastPage += 1;
  const page = {
    number: lastPage, port, tab: sender.tab.id, frame: sender.frameId, address: addressOf(sender), focus: null,
    hasLeft: false, isAside: false, isInFrame: false, calls: new Map(),
  };
  const early = [];
  let isReady = false;
  port.onMessage.addListener((message) => (isReady ? pageSaid(page, message) : early.push(message)));
  port.onDisconnect.addListener(() => {
    void api.runtime.lastError;
    page.isGone = true;
    forget(page);
  });
  await sharing;
  const isSharedNow = await isShared(page.address);
  if (page.isGone) return;
  if (!isSharedNow) {
    port.postMessage({ type: "end" });
    return;
  }
  // A frame shows one document: one before it was left, or is another copy of this script.
  for (const other of [...pages.values()]) {
    if (other.tab === page.tab && other.frame === page.frame) end(other);
  }
  pages.set(page.number, page);
  if (toldTabs.has(page.tab)) await tellTab(page.tab);
  isReady = true;
  for (const message of early) pageSaid(page, message);
});

// MARK: Tabs

/** Firefox's windows always say that they have focus, and Chromium tells that none has it when a tab opens in front. */
const eventsAreRight = "getBrowserInfo" in api.runtime;
let focusedWindow = null;
let turn = 0;
/** Done when the host was told of the tab in front. */
let telling = Promise.resolve();

/** How many tabs were closed. */
let closings = 0;

/** Tells what a tab shows, if the host was told of it, or is now. */
const tellTab = async (id, isNew = false) => {
  const known = closings;
  let tab;
  try {
    tab = await api.tabs.get(id);
  } catch {
    return false;
  }
  if (tab.incognito || (!isNew && !toldTabs.has(id))) return false;
  const shared = [...pages.values()].some((page) => page.tab === id);
  const message = { type: "tab", tab: id, window: tab.windowId, shared };
  if (shared && (await isShared(tab.url))) {
    for (const name of ["title", "url"]) if (tab[name]?.length <= LONGEST) message[name] = tab[name];
  }
  // It may have been this one.
  if (closings !== known) return tellTab(id, isNew);
  const told = JSON.stringify(message);
  const before = toldTabs.get(id);
  if (before?.told === told && !isNew) return true;
  if (isNew) toldTabs.delete(id);
  toldTabs.set(id, { told, shared });
  if (toldTabs.size > KEPT_TABS) toldTabs.delete(toldTabs.keys().next().value);
  send(message);
  if (isNew || before?.shared !== shared) tellFocus(id);
  return true;
};

/** Tells which tab is in front, until it has told the newest one. */
const tellFront = async () => {
  telling = findFront();
  for (let last; last !== telling;) {
    last = telling;
    await last;
  }
};

let frontTimer;

/** Looks soon: Chromium tells of a tab that opens as if another program were in front, and of that not at all then. */
const lookAgain = () => {
  clearTimeout(frontTimer);
  frontTimer = setTimeout(tellFront, FRONT_LOOK);
};

/** Tells which tab is in front, unless a newer call does. */
const findFront = async () => {
  turn += 1;
  const mine = turn;
  try {
    // Firefox tells nothing of a private window that the extension is not allowed in.
    const window = await api.windows.getLastFocused().catch(() => null);
    if (!window) {
      if (mine !== turn || !host || toldFront === null) return;
      toldFront = null;
      send({ type: "front" });
      return;
    }
    if (!eventsAreRight && focusedWindow === api.windows.WINDOW_ID_NONE && window.focused) lookAgain();
    const isFront = eventsAreRight && focusedWindow !== null ? focusedWindow === window.id : window.focused;
    const [tab] = await api.tabs.query({ active: true, windowId: window.id });
    if (mine !== turn || !host) return;
    // The host hears of a tab also while the browser is behind: so the browser is known to have the extension.
    const front = tab && isFront ? tab.id : null;
    if (toldFront === front && toldTabs.has(tab?.id)) return;
    if (tab && !(await tellTab(tab.id, true))) return;
    if (mine !== turn) return;
    toldFront = front;
    send({ type: "front", ...(front !== null && { tab: front }) });
    const page = current.get(front);
    if (page?.hasLeft) setTimeout(() => putAside(page), BROWSER_DELAY);
  } catch {
    // The window is gone; another comes to the front, or none is left.
  }
};

api.windows.onFocusChanged.addListener((id) => {
  focusedWindow = id;
  tellFront();
});
api.tabs.onActivated.addListener(tellFront);
api.tabs.onUpdated.addListener((id, change) => {
  if ("title" in change || "url" in change || "status" in change) tellTab(id);
});
api.tabs.onAttached.addListener((id) => tellTab(id));
api.tabs.onRemoved.addListener((id) => {
  closings += 1;
  if (!toldTabs.delete(id)) return;
  send({ type: "closed", tab: id });
  tellFront();
});
api.windows.onRemoved.addListener((id) => {
  formerStates.delete(id);
  tellFront();
});
api.permissions.onAdded.addListener(share);
api.permissions.onRemoved.addListener(share);
api.storage.onChanged.addListener(share);

// MARK: Requests

const zoom = async (id, direction) => {
  const now = await api.tabs.getZoom(id);
  const next = direction > 0 ? ZOOMS.find((each) => each > now + 0.01) : ZOOMS.findLast((each) => each < now - 0.01);
  if (next) await api.tabs.setZoom(id, next);
};

const activate = async (id, step) => {
  const tab = await api.tabs.get(id);
  const tabs = (await api.tabs.query({ windowId: tab.windowId })).filter((each) => !each.hidden || each.id === id);
  tabs.sort((one, other) => one.index - other.index);
  const place = tabs.findIndex((each) => each.id === id);
  await api.tabs.update(tabs[(place + step + tabs.length) % tabs.length].id, { active: true });
};

/** How windows were before they filled the screen. */
const formerStates = new Map();

const bringToFront = async (id) => {
  const tab = await api.tabs.update(id, { active: true });
  await api.windows.update(tab.windowId, { focused: true });
};

const commands = {
  "Tab.New": async (id) => api.tabs.create({ windowId: (await api.tabs.get(id)).windowId }),
  "Tab.Close": (id) => api.tabs.remove(id),
  "Tab.Next": (id) => activate(id, 1),
  "Tab.Previous": (id) => activate(id, -1),
  "Navigation.Back": (id) => api.tabs.goBack(id),
  "Navigation.Forward": (id) => api.tabs.goForward(id),
  "Navigation.Reload": (id) => api.tabs.reload(id),
  "View.ZoomIn": (id) => zoom(id, 1),
  "View.ZoomOut": (id) => zoom(id, -1),
  "View.ZoomReset": (id) => api.tabs.setZoom(id, 0),
  "View.Fullscreen": async (id) => {
    const { windowId } = await api.tabs.get(id);
    const { state } = await api.windows.get(windowId);
    const isFull = state === "fullscreen";
    await api.windows.update(windowId, { state: isFull ? (formerStates.get(windowId) ?? "normal") : "fullscreen" });
    if (isFull) formerStates.delete(windowId);
    else formerStates.set(windowId, state);
  },
};

let lastCall = 0;

/** Has a page do what the host asks. */
const ask = (page, request) => {
  lastCall += 1;
  page.calls.set(lastCall, request.call);
  page.port.postMessage({ ...request, call: lastCall, since: Date.now() });
};

/** Does what the host asks of a tab, or has the page do it. */
const perform = async (request, asker) => {
  const { call, type, tab, document: number } = request;
  if (number !== undefined) {
    const page = pages.get(number);
    if (!page) return reply(asker, { call, error: "gone" });
    if (type === "focus") await bringToFront(page.tab);
    return asker === host && ask(page, request);
  }
  if (type === "focus") {
    await bringToFront(tab);
  } else if (request.key in commands) {
    await commands[request.key](tab);
  } else {
    const page = current.get(tab) ?? [...pages.values()].find((each) => each.tab === tab && each.frame === 0);
    if (!page) return reply(asker, { call, error: "unshared" });
    // The keyboard goes to the address bar, or to a frame that is not shared.
    if (page.isAside || page.isInFrame) return reply(asker, { call, error: "elsewhere" });
    return ask(page, request);
  }
  // What is run next acts on the tab that is in front now.
  await tellFront();
  return reply(asker, { call });
};

share();
connect();
