// Texts of entries and of editable elements, and positions in them. The page counts UTF-16 units, focusd Unicode scalars.
"use strict";

if (!Object.hasOwn(focusdPage, "text")) {
  const { get, call, selection, inputType } = focusdPage;
  const TEXT_TYPES = new Set("text search url tel email password".split(" "));
  /** The types of entries that nobody types a text into. */
  const VALUE_TYPES = new Set("date datetime-local month time week".split(" "));
  const PAIR = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;
  const LONE = /[\uD800-\uDFFF]/gu;
  const LIMIT = 65536;
  const BLOCKS = new Set(
    ("address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form " +
      "h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul")
      .split(" "),
  );

  /** What has text that nobody sees. */
  const HIDDEN = new Set("datalist noscript script style template".split(" "));

  /** Whether nobody sees the text in an element. */
  const isHidden = (element) => HIDDEN.has(get(element, "localName"));

  const isValue = (element) => VALUE_TYPES.has(inputType(element));

  /** Whether an entry holds whatever text somebody types. */
  const isTyped = (element) =>
    element instanceof HTMLTextAreaElement || TEXT_TYPES.has(inputType(element));

  const isEntry = (element) =>
    isTyped(element) || inputType(element) === "number" || isValue(element);

  const isEditable = (element) =>
    element instanceof HTMLElement && (get(element, "isContentEditable") ||
      (element === get(document, "body") && get(document, "designMode") === "on"));

  const scalars = (value) => value.length - (value.match(PAIR)?.length ?? 0);

  /** The unit at which the scalar of that number begins. */
  const unit = (value, scalar) => {
    let at = 0;
    for (let left = scalar; left > 0 && at < value.length; left -= 1) at += value.codePointAt(at) > 0xffff ? 2 : 1;
    return at;
  };

  /** The text as others can have it: without halves of characters. */
  const whole = (value) => value.replace(LONE, "\uFFFD");

  /** Whether others are shown a text as a whole; D-Bus knows no NUL. */
  const fits = (value) =>
    !value.includes("\0") &&
    (value.length * 3 <= LIMIT || (value.length <= LIMIT && new TextEncoder().encode(value).length <= LIMIT));

  // MARK: Editable elements

  const isText = (node) => get(node, "nodeType") === Node.TEXT_NODE;
  const isElement = (node) => get(node, "nodeType") === Node.ELEMENT_NODE;
  const isBlock = (node) => isElement(node) && BLOCKS.has(get(node, "localName"));
  const contains = (one, other) => call(one, "contains", other);

  /** Whether a line break only keeps an empty line open: the last thing in its block. */
  const isFiller = (node, host) => {
    for (let at = node; at !== host; at = get(at, "parentNode")) {
      const next = get(at, "nextSibling");
      if (next) return isBlock(next);
      if (isBlock(at)) return true;
    }
    return true;
  };

  /** A function that tells whether a text only indents the page's source; it looks at the children of each node once. */
  const indentation = () => {
    const blocks = new Map();
    const hasBlock = (parent) => {
      if (!blocks.has(parent)) blocks.set(parent, [...get(parent, "childNodes")].some(isBlock));
      return blocks.get(parent);
    };
    return (node) => /^[ \t\r\n]*\n[ \t\r\n]*$/.test(node.data) && (!node.nextSibling || hasBlock(node.parentNode));
  };

  /** The text of an editable element as people see it, and where each of its nodes is in it. */
  const readNodes = (host) => {
    const keeping = new Map();
    const keepsSpace = (parent) => {
      if (!keeping.has(parent)) keeping.set(parent, /^(pre|break)/.test(getComputedStyle(parent).whiteSpace));
      return keeping.get(parent);
    };
    const isIndentation = indentation();
    const places = [];
    let value = "";
    // Whether the line has begun, and whether what comes next begins another.
    let begun = false;
    let broken = false;
    const place = (node, length = 0) => places.push({ node, start: value.length, length });
    const begin = () => {
      if (broken) value += "\n";
      [begun, broken] = [true, false];
    };
    const visitChildren = (node) => {
      for (let child = get(node, "firstChild"); child; child = get(child, "nextSibling")) visit(child);
    };
    const visit = (node) => {
      if (isText(node)) {
        // A style is asked for only where it matters.
        const isKept = !/[\t\r\n]/.test(node.data) || keepsSpace(get(node, "parentNode"));
        if (node.data === "" || (!isKept && isIndentation(node))) return;
        begin();
        place(node, node.length);
        // As many units as the node has: what is written is placed by them.
        value += node.data.replace(isKept ? /\u00a0/g : /[\u00a0\t\r\n]/g, " ");
      } else if (isElement(node) && get(node, "localName") === "br") {
        begin();
        place(node);
        if (!isFiller(node, host)) value += "\n";
      } else if (isElement(node) && !isHidden(node)) {
        const block = isBlock(node);
        if (block && (begun || broken)) {
          value += "\n";
          [begun, broken] = [false, false];
        }
        place(node);
        visitChildren(node);
        if (block) [begun, broken] = [true, true];
      }
    };
    visitChildren(host);
    return { value, places };
  };

  /** The unit at which a point of the document is. */
  const unitOf = ({ value, places }, host, container, offset) => {
    if (isText(container)) {
      const found = places.find(({ node }) => node === container);
      return found ? found.start + Math.min(offset, found.length) : value.length;
    }
    // What nobody sees has no place.
    for (const next of [...get(container, "childNodes")].slice(offset)) {
      const found = places.find(({ node }) => contains(next, node));
      if (found) return found.start;
    }
    if (container === host) return value.length;
    // After all that is in the container.
    const last = places.findLast(({ node }) => contains(container, node));
    return last ? last.start + last.length : 0;
  };

  /** The point of the document at which a unit is. */
  const pointOf = ({ places }, host, at) => {
    let best = [host, 0];
    for (const { node, start, length } of places) {
      if (start > at) break;
      if (isText(node)) {
        if (at <= start + length) return [node, at - start];
        best = [node, length];
      } else if (start === at) {
        // Before a line break, and in a block that is empty.
        const parent = get(node, "parentNode");
        if (get(node, "localName") === "br") best = [parent, [...get(parent, "childNodes")].indexOf(node)];
        else if (!get(node, "firstChild")) best = [node, 0];
      }
    }
    return best;
  };

  // MARK: Both

  /** What an entry or an editable element holds, and where its selection and its caret are; null if it has no caret. */
  const read = (element) => {
    if (isEntry(element)) {
      const { value, selectionStart: start, selectionEnd: end, selectionDirection } = element;
      return { value, start, end, caret: selectionDirection === "backward" ? start : end };
    }
    const nodes = readNodes(element);
    const { value } = nodes;
    const { anchorNode, anchorOffset, focusNode, focusOffset } = selection(element) ?? {};
    // The end, if the selection is elsewhere.
    if (!anchorNode || !focusNode || !contains(element, anchorNode) || !contains(element, focusNode)) {
      return { value, start: value.length, end: value.length, caret: value.length };
    }
    const anchor = unitOf(nodes, element, anchorNode, anchorOffset);
    const caret = unitOf(nodes, element, focusNode, focusOffset);
    return { value, start: Math.min(anchor, caret), end: Math.max(anchor, caret), caret };
  };

  /** Selects from a scalar to another. */
  const select = (element, from, to) => {
    if (isEntry(element)) {
      const { value } = element;
      element.setSelectionRange(unit(value, from), unit(value, to));
    } else {
      const nodes = readNodes(element);
      const [start, end] = [from, to].map((position) => pointOf(nodes, element, unit(nodes.value, position)));
      selection(element)?.setBaseAndExtent(...start, ...end);
    }
  };

  /** What is told of a text. */
  const state = (element) => {
    const { value, start, end, caret } = read(element);
    const told = fits(value) ? { content: whole(value) } : { length: scalars(value) };
    if (start === null) return told;
    told.start = scalars(value.slice(0, start));
    told.end = told.start + scalars(value.slice(start, end));
    told.caret = caret === start ? told.start : told.end;
    const selected = value.slice(start, end);
    if (told.content === undefined && fits(selected)) told.selected = whole(selected);
    return told;
  };

  focusdPage.text = { isText, isElement, isHidden, isEntry, isTyped, isValue, isEditable, whole, read, select, state };
}
