// Follows what has focus in this document, and tells the background script while the tab's focus is in it.
"use strict";

if (Object.hasOwn(focusdPage, "connect")) {
  // The user shares the page again.
  focusdPage.connect();
} else {
  const { api, get, call, text, kinds } = focusdPage;
  /** How often a document tells what changed, in milliseconds: the one in front, and others. */
  const FRONT_INTERVAL = 25;
  const BACK_INTERVAL = 250;
  /** How often it looks at what scripts change without an event. */
  const FRONT_LOOK = 500;
  const BACK_LOOK = 2000;
  /** How long a request may wait for others, or for the page, in milliseconds: its sender waits for three seconds. */
  const PATIENCE = 2500;
  const FRAMES = new Set(["iframe", "frame", "object", "embed", "fencedframe"]);

  const hasFocus = () => call(document, "hasFocus");

  let port = null;
  /** Whether the tab's focus was in this document last. */
  let isCurrent = false;
  let lastTold = "";
  /** The element that was told last to have focus. */
  let lastElement;
  let lastTime = 0;
  /** What was read last, when, and how long that took: an element of thousands of nodes takes Firefox a third of a second. */
  let [readElement, readTime, readCost] = [null, 0, 0];
  /** How many requests are worked off: their replies tell what they change. */
  let requests = 0;
  let queue = Promise.resolve();
  let timer = null;
  let lookTimer = null;
  let lastNumber = 0;
  const numbers = new WeakMap();
  const elements = new Map();

  const number = (element) => {
    let found = numbers.get(element);
    if (found === undefined) {
      lastNumber += 1;
      found = lastNumber;
      numbers.set(element, found);
    }
    // The newest is the last; the host keeps fewer.
    elements.delete(found);
    elements.set(found, new WeakRef(element));
    if (elements.size > 64) elements.delete(elements.keys().next().value);
    return found;
  };

  const isNothing = (element) =>
    !element || element === get(document, "documentElement") ||
    (element === get(document, "body") && !text.isEditable(element));

  /** What is told now: what has focus here, or that another document has it. */
  const current = () => {
    try {
      const element = focusdPage.activeElement();
      if (element && FRAMES.has(get(element, "localName"))) return { type: "frame" };
      if (isNothing(element)) return { type: "blur" };
      return { type: "focus", element: number(element), state: kinds.state(element) };
    } catch {
      return { type: "blur" };
    }
  };

  const post = (message) => {
    try {
      port?.postMessage(message);
    } catch {
      port = null;
    }
  };

  const tell = () => {
    timer = null;
    if (!port) return;
    if (hasFocus()) isCurrent = true;
    if (!isCurrent) return;
    const begun = performance.now();
    readElement = focusdPage.activeElement();
    const message = current();
    const told = JSON.stringify(message);
    readTime = performance.now();
    readCost = readTime - begun;
    if (told === lastTold) return;
    [lastTold, lastElement] = [told, message.element];
    lastTime = performance.now();
    post({ ...message, isActive: hasFocus() });
  };

  /** What is told next is told whatever was told before. */
  const tellAnew = () => {
    [lastTold, lastElement] = ["", undefined];
  };

  const isReadAgain = () => focusdPage.activeElement() === readElement;

  /** When what has focus may be read next: most of the time is the page's. */
  const nextReading = () => (isReadAgain() ? readTime + readCost * 10 : 0);

  const tellSoon = () => {
    if (timer !== null || requests > 0 || !port) return;
    const interval = hasFocus() ? FRONT_INTERVAL : BACK_INTERVAL;
    const wait = Math.max(lastTime + interval, nextReading()) - performance.now();
    timer = setTimeout(tell, Math.max(wait, 0));
  };

  /** An event of focus: the first after a pause is told at once. */
  const tellNow = () => {
    if (!isReadAgain()) {
      // It was put off for the former element.
      clearTimeout(timer);
      timer = null;
    }
    const isPause = performance.now() >= Math.max(lastTime + FRONT_INTERVAL, nextReading());
    if (timer === null && requests === 0 && isPause) tell();
    else tellSoon();
  };

  const lookLater = () => {
    clearTimeout(lookTimer);
    if (!port || !isCurrent) return;
    lookTimer = setTimeout(() => {
      // A page that writes itself anew takes the listeners away.
      listen();
      if (!isReadAgain()) tellNow();
      else if (performance.now() >= readTime + readCost * 20) tellSoon();
      lookLater();
    }, hasFocus() ? FRONT_LOOK : BACK_LOOK);
  };

  const gained = () => {
    isCurrent = true;
    readElement = null;
    tellAnew();
    tellNow();
    lookLater();
  };

  const left = () => {
    // Whether the window is behind others, or a frame without this script has focus, the top document knows.
    setTimeout(() => {
      if (isCurrent && !hasFocus()) post({ type: "left" });
    }, 50);
  };

  /** Before a page's own listeners, which may show a secret. */
  const acting = (event) => {
    if (event.type !== "keydown" || event.key === "Enter" || event.key === " ") kinds.noteSecrets(event);
  };

  const focusedHere = (event) => {
    if (event) kinds.noteSecrets(event);
    if (!isCurrent && hasFocus()) gained();
    else tellNow();
  };

  // Functions that stay the same are added once, however often.
  // Not `globalThis`, which is another object in Firefox.
  // A page may dispatch such events itself.
  const windowLeft = (event) => event.isTrusted && event.target === window && left();
  const windowGained = (event) => event.isTrusted && event.target === window && gained();
  // A key's event comes before what it changes, and a look at the next occasion comes after it.
  const events = {
    pointerdown: acting, touchstart: acting, mousedown: acting, keydown: acting,
    focusin: focusedHere, focusout: () => setTimeout(focusedHere, 0), input: tellNow,
    // It comes while the element loses focus, and no other has it yet.
    change: () => setTimeout(tellNow, 0),
    selectionchange: tellSoon, keyup: tellSoon, mouseup: tellSoon,
  };

  const listen = () => {
    for (const [type, handler] of Object.entries(events)) globalThis.addEventListener(type, handler, true);
    call(document, "addEventListener", "selectionchange", events.selectionchange, true);
    globalThis.addEventListener("focus", windowGained, true);
    globalThis.addEventListener("blur", windowLeft, true);
    globalThis.addEventListener("pagehide", hidden, true);
    globalThis.addEventListener("pageshow", shown, true);
  };

  const received = (message) => {
    switch (message.type) {
      case "end":
        disconnect();
        return;
      case "rest":
        isCurrent = false;
        tellAnew();
        return;
      case "ask":
        post({ type: "asked", hasFocus: hasFocus() });
        return;
      default: break;
    }
    // One after another: a write that waits for the page has selected what it replaces.
    const asker = port;
    queue = queue.then(() => {
      // Whoever asked was told that it is gone, or is told soon that it took too long.
      if (port !== asker) return undefined;
      if (Date.now() - message.since < PATIENCE) return work(message);
      return post({ type: "reply", call: message.call, error: "refused" });
    }).catch(() => {});
  };

  const work = async (message) => {
    const element = message.element === undefined ? undefined : elements.get(message.element)?.deref();
    const reply = { type: "reply", call: message.call };
    if (message.element !== undefined && !element) {
      post({ ...reply, error: "gone" });
      return;
    }
    requests += 1;
    const error = await focusdPage.perform(message, element);
    requests -= 1;
    if (error) reply.error = error;
    try {
      if (element) [reply.element, reply.state] = [message.element, kinds.state(element)];
      if (element && lastElement === reply.element) {
        lastTold = JSON.stringify({ type: "focus", element: reply.element, state: reply.state });
      }
    } catch {
      reply.error ??= "refused";
    }
    post(reply);
    tellSoon();
  };

  const disconnect = () => {
    port?.disconnect();
    port = null;
    isCurrent = false;
    tellAnew();
  };

  const connect = () => {
    // An extension that was removed or updated has no name any more; its next version looks for itself.
    if (port || !api.runtime?.id) return;
    port = api.runtime.connect({ name: "page" });
    port.onMessage.addListener(received);
    port.onDisconnect.addListener(() => {
      port = null;
      tellAnew();
      setTimeout(connect, 500);
    });
    if (hasFocus()) gained();
  };

  // Chromium ends the connection of a page that it keeps for later, and the page is not told.
  const hidden = (event) => {
    if (event.isTrusted && event.persisted) disconnect();
  };

  const shown = (event) => {
    if (event.isTrusted && event.persisted) connect();
  };

  focusdPage.connect = connect;
  listen();
  for (const delay of [100, 500, 2000, 5000]) setTimeout(listen, delay);
  connect();
}
