// Texts of entries and of editable elements, and positions in them. The page counts UTF-16 units, focusd Unicode scalars.
"use strict";

if (!Object.hasOwn(focusdPage, "text")) {
  const { dom } = focusdPage;
  const PAIR = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;
  const LONE = /[\uD800-\uDFFF]/gu;
  const LIMIT = 65536;
  const BLOCKS = new Set(
    ("address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form " +
      "h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul")
      .split(" "),
  );

  const text = {
    /** How many scalars a text has. */
    scalars: (value) => value.length - (value.match(PAIR)?.length ?? 0),

    /** The unit at which the scalar of that number begins. */
    unit: (value, scalar) => {
      let unit = 0;
      for (let left = scalar; left > 0 && unit < value.length; left -= 1) {
        unit += value.codePointAt(unit) > 0xffff ? 2 : 1;
      }
      return unit;
    },

    /** The text as others can have it: without halves of characters. */
    whole: (value) => value.replace(LONE, "\uFFFD"),

    /** Whether others are shown a text as a whole. */
    fits: (value) =>
      value.length * 3 <= LIMIT || (value.length <= LIMIT && new TextEncoder().encode(value).length <= LIMIT),
  };

  /** What is told of a text; start, end and caret are units, or null if there is no caret. */
  text.state = (value, start, end, caret) => {
    const state = {};
    if (text.fits(value)) state.content = text.whole(value);
    else state.length = text.scalars(value);
    if (start === null || end === null) return state;
    state.start = text.scalars(value.slice(0, start));
    state.end = state.start + text.scalars(value.slice(start, end));
    state.caret = caret === start ? state.start : state.end;
    if (state.content === undefined) {
      const selected = value.slice(start, end);
      if (text.fits(selected)) state.selected = text.whole(selected);
    }
    return state;
  };

  const isBlock = (node) => dom.nodeType(node) === 1 && BLOCKS.has(dom.localName(node));

  /** Whether a line break only keeps an empty line open: the last thing in its block. */
  const isFiller = (node, host) => {
    for (let at = node; at !== host; at = dom.parent(at)) {
      const next = dom.nextSibling(at);
      if (next) return isBlock(next);
      if (isBlock(at)) return true;
    }
    return true;
  };

  const isIndentation = (node, data, keepsSpace) => {
    if (keepsSpace || !/^[ \t\r\n]*\n[ \t\r\n]*$/.test(data)) return false;
    const parent = dom.parent(node);
    return [...dom.childNodes(parent)].some(isBlock) || !dom.nextSibling(node);
  };

  /** The text of an editable element as people see it, and where each of its nodes is in it. */
  text.read = (host) => {
    const keepsSpace = /^(pre|break)/.test(getComputedStyle(host).whiteSpace);
    let value = "";
    // Whether the line has begun, and whether what comes next begins another.
    let begun = false;
    let broken = false;
    const places = [];
    const visit = (node) => {
      const type = dom.nodeType(node);
      if (type === 3) {
        const data = dom.data(node);
        if (data === "" || isIndentation(node, data, keepsSpace)) return;
        if (broken) value += "\n";
        broken = false;
        begun = true;
        places.push({ node, start: value.length, length: data.length });
        value += data.replaceAll("\u00a0", " ");
        return;
      }
      if (type !== 1) return;
      const name = dom.localName(node);
      if (name === "br") {
        if (broken) value += "\n";
        broken = false;
        begun = true;
        places.push({ node, start: value.length, length: 0 });
        if (!isFiller(node, host)) value += "\n";
        return;
      }
      const block = isBlock(node);
      if (block && (begun || broken)) {
        value += "\n";
        [begun, broken] = [false, false];
      }
      places.push({ node, start: value.length, length: 0 });
      for (let child = dom.firstChild(node); child; child = dom.nextSibling(child)) visit(child);
      if (block) [begun, broken] = [true, true];
    };
    for (let child = dom.firstChild(host); child; child = dom.nextSibling(child)) visit(child);
    return { value, places };
  };

  /** The unit in a text that was read at which a point of the document is. */
  text.offset = ({ value, places }, host, container, offset) => {
    if (dom.nodeType(container) === 3) {
      const place = places.find(({ node }) => node === container);
      return place ? place.start + Math.min(offset, place.length) : value.length;
    }
    const next = dom.childNodes(container)[offset];
    if (next) {
      const place = places.find(({ node }) => node === next || dom.contains(next, node));
      if (place) return place.start;
    }
    // After all that is in the container.
    let end = container === host ? value.length : 0;
    for (const { node, start, length } of places) {
      if (node !== host && dom.contains(container, node)) end = Math.max(end, start + length);
    }
    return end;
  };

  /** The point of the document at which a unit of a text that was read is. */
  text.point = ({ places }, host, unit) => {
    let best = [host, 0];
    for (const { node, start, length } of places) {
      if (start > unit) break;
      if (dom.nodeType(node) === 3) {
        if (unit <= start + length) return [node, unit - start];
        best = [node, length];
      } else if (start === unit) {
        // Before a line break, and in a block that is empty.
        if (dom.localName(node) === "br") best = [dom.parent(node), [...dom.childNodes(dom.parent(node))].indexOf(node)];
        else if (!dom.firstChild(node)) best = [node, 0];
      }
    }
    return best;
  };

  focusdPage.text = text;
}
