// What is told of the element that has focus.
"use strict";

if (!Object.hasOwn(focusdPage, "state")) {
  const { dom, entry, text } = focusdPage;
  const TEXT_TYPES = new Set("text search url tel email number password".split(" "));
  const VALUE_TYPES = new Set("date datetime-local month time week".split(" "));
  const ROLES = new Set(
    ("textbox searchbox slider spinbutton checkbox radio switch button link combobox listbox option menuitem " +
      "menuitemcheckbox menuitemradio tab treeitem listitem row gridcell progressbar scrollbar document img group")
      .split(" "),
  );
  const TAG_ROLES = {
    a: "link", area: "link", button: "button", details: "group", img: "img", meter: "progressbar", option: "option",
    progress: "progressbar", select: "combobox", summary: "button", textarea: "textbox", video: "video",
    audio: "audio",
  };
  const INPUT_ROLES = {
    button: "button", checkbox: "checkbox", color: "button", file: "button", image: "button", number: "spinbutton",
    radio: "radio", range: "slider", reset: "button", search: "searchbox", submit: "button",
  };
  const TOGGLES = new Set("checkbox radio switch menuitemcheckbox menuitemradio".split(" "));
  const RANGES = new Set("slider spinbutton progressbar scrollbar".split(" "));
  const SECRET_TOKENS = /^(current-password|new-password|one-time-code|cc-.+)$/;
  const SECRET_NAMES =
    /(^|[^a-z])(passw(or)?d|passcode|passphrase|t?otp|one.?time.?(code|password)|cvv2?|cvc2?|card.?(number|num|no))([^a-z]|$)/;
  // They keep their text elsewhere, and show only what is visible of it.
  const EDITORS = ".CodeMirror, .cm-editor, .monaco-editor, .ace_editor";
  const NAME_LIMIT = 200;

  const secrets = new WeakSet();

  /** Whether an element has a text of its own kind: `input` or `textarea`; else null. */
  const entryKind = (element) => {
    if (element instanceof HTMLTextAreaElement) return "textarea";
    if (element instanceof HTMLInputElement) {
      const type = dom.input.type(element);
      if (TEXT_TYPES.has(type) || VALUE_TYPES.has(type)) return "input";
    }
    return null;
  };

  const isEditable = (element) =>
    element instanceof HTMLElement &&
    (dom.isContentEditable(element) || (element === dom.body(document) && dom.designMode(document) === "on"));

  const isEditor = (element) => Boolean(dom.closest(element, EDITORS));

  /** Whether what an element holds must not leave the page; once it did not, it never does. */
  const isSecret = (element) => {
    if (secrets.has(element)) return true;
    if (!entryKind(element) && !isEditable(element)) return false;
    const attribute = (name) => (dom.attribute(element, name) ?? "").toLowerCase();
    const security = getComputedStyle(element).webkitTextSecurity;
    const name = (value) => SECRET_NAMES.test(value.replace(/[_\-.[\]]+/g, " "));
    const secret =
      (element instanceof HTMLInputElement && dom.input.type(element) === "password") ||
      attribute("autocomplete").split(/\s+/).some((token) => SECRET_TOKENS.test(token)) ||
      (security !== undefined && security !== "" && security !== "none") ||
      name(attribute("name")) || name(attribute("id"));
    if (secret) secrets.add(element);
    return secret;
  };

  const role = (element) => {
    const [given] = (dom.attribute(element, "role") ?? "").trim().toLowerCase().split(/\s+/);
    if (ROLES.has(given)) return given;
    if (element instanceof HTMLInputElement) return INPUT_ROLES[dom.input.type(element)] ?? "textbox";
    if (isEditable(element)) return "textbox";
    return TAG_ROLES[dom.localName(element)] ?? "generic";
  };

  const clean = (value) => text.whole((value ?? "").replaceAll("\0", "").replace(/\s+/g, " ").trim()).slice(0, NAME_LIMIT);

  const referenced = (element, name) =>
    (dom.attribute(element, name) ?? "").split(/\s+/).filter(Boolean).slice(0, 8)
      .map((id) => dom.getElementById(document, id)).filter(Boolean)
      // What somebody types is no name.
      .filter((label) => !entryKind(label) && !isEditable(label))
      .map((label) => dom.textContent(label).slice(0, 1000)).join(" ");

  const name = (element, isText) => {
    const labels =
      element instanceof HTMLInputElement ? dom.labels.input(element)
        : element instanceof HTMLTextAreaElement ? dom.labels.textarea(element) : null;
    const label = labels?.length ? dom.textContent(labels[0]).slice(0, 1000) : "";
    return (
      clean(referenced(element, "aria-labelledby")) || clean(dom.attribute(element, "aria-label")) || clean(label) ||
      clean(dom.attribute(element, "placeholder")) || clean(dom.attribute(element, "alt")) ||
      (isText ? "" : clean(dom.textContent(element).slice(0, 1000))) || clean(dom.attribute(element, "title"))
    );
  };

  const number = (value, otherwise) => {
    const result = value === null || value === "" ? NaN : Number(value);
    return Number.isFinite(result) ? result : otherwise;
  };

  /** The range of a slider or a spin button; null if it has none. */
  const range = (element, roleName) => {
    if (element instanceof HTMLInputElement && ["range", "number"].includes(dom.input.type(element))) {
      const isSlider = dom.input.type(element) === "range";
      const step = dom.input.step(element);
      const isFixed = entry.input.disabled(element) || (!isSlider && entry.input.readOnly(element));
      const state = {
        access: isFixed ? "r" : "rw",
        minimum: number(dom.input.min(element), isSlider ? 0 : -Number.MAX_VALUE),
        maximum: number(dom.input.max(element), isSlider ? 100 : Number.MAX_VALUE),
        step: step === "any" ? 0 : Math.max(number(step, 1), 0) || 1,
      };
      const value = number(entry.input.value(element), null);
      return value === null ? state : { ...state, value };
    }
    const value = RANGES.has(roleName) ? number(dom.attribute(element, "aria-valuenow"), null) : null;
    if (value === null) return null;
    return {
      access: "r", value, step: 0,
      minimum: number(dom.attribute(element, "aria-valuemin"), 0),
      maximum: number(dom.attribute(element, "aria-valuemax"), 100),
    };
  };

  const isDisabled = (element) =>
    (element instanceof HTMLInputElement && entry.input.disabled(element)) ||
    dom.attribute(element, "aria-disabled") === "true";

  /** Whether a check box is checked; null if it is not one. */
  const checked = (element, roleName) => {
    if (element instanceof HTMLInputElement && ["checkbox", "radio"].includes(dom.input.type(element))) {
      return dom.input.checked(element);
    }
    const given = dom.attribute(element, "aria-checked");
    if (TOGGLES.has(roleName) && given !== null) return given === "true";
    const pressed = roleName === "button" ? dom.attribute(element, "aria-pressed") : null;
    return pressed === null ? null : pressed === "true";
  };

  const isWritable = (element, kind) =>
    kind ? !entry[kind].readOnly(element) && !entry[kind].disabled(element)
      : dom.attribute(element, "aria-readonly") !== "true";

  const textState = (element, kind) => {
    const access = isWritable(element, kind) ? "rw" : "r";
    if (isSecret(element)) return { kind: "secret", access };
    if (isEditor(element)) return { kind: "editor" };
    if (kind) {
      const of = entry[kind];
      const [value, start, end] = [of.value(element), of.start(element), of.end(element)];
      const caret = start !== null && of.direction(element) === "backward" ? start : end;
      return { kind: "text", access, ...text.state(value, start, end, caret) };
    }
    const read = text.read(element);
    const [start, end, caret] = focusdPage.selected(element, read);
    return { kind: "text", access, ...text.state(read.value, start, end, caret) };
  };

  /** Where the selection is in an editable element's text, and the caret; the end of it if it is elsewhere. */
  focusdPage.selected = (host, read) => {
    const selection = focusdPage.selection(host);
    const { anchorNode, anchorOffset, focusNode, focusOffset } = selection ?? {};
    if (!anchorNode || !focusNode || !dom.contains(host, anchorNode) || !dom.contains(host, focusNode)) {
      return [read.value.length, read.value.length, read.value.length];
    }
    const anchor = text.offset(read, host, anchorNode, anchorOffset);
    const caret = text.offset(read, host, focusNode, focusOffset);
    return [Math.min(anchor, caret), Math.max(anchor, caret), caret];
  };

  focusdPage.kinds = { entryKind, isEditable, isEditor, isSecret, isWritable, isDisabled, range, checked, role, VALUE_TYPES };

  /** What is told of an element. */
  focusdPage.state = (element) => {
    const kind = entryKind(element);
    const hasText = Boolean(kind) || isEditable(element);
    const state = { role: role(element), name: name(element, hasText) };
    const description = clean(referenced(element, "aria-describedby")) || clean(dom.attribute(element, "aria-description"));
    if (description) state.description = description;
    if (hasText) state.text = textState(element, kind);
    if (state.text?.kind === "secret") return state;
    const extent = range(element, state.role);
    if (extent) state.range = extent;
    const isChecked = checked(element, state.role);
    if (isChecked !== null) {
      state.checked = isChecked;
      state.checkable = isDisabled(element) ? "r" : "rw";
    }
    return state;
  };
}
