// What is told of the element that has focus.
"use strict";

if (!Object.hasOwn(focusdPage, "kinds")) {
  const { get, call, attribute, shadowRoot, inputType, text } = focusdPage;
  const ROLES = new Set(
    ("textbox searchbox slider spinbutton checkbox radio switch button link combobox listbox option menuitem " +
      "menuitemcheckbox menuitemradio tab treeitem listitem row gridcell progressbar scrollbar document img group")
      .split(" "),
  );
  const TAG_ROLES = {
    __proto__: null,
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
    /^pass$|(^|[^a-z])(passw(or)?d|passwort|pwd?|passcode|passphrase|pin|t?otp|one.?time.?(code|password)|(security|verification|auth|mfa|2fa).?code|cvv2?|cvc2?|csc|user.?pass|(cc|card).?(number|num|no|csc|cvc|cvv))([^a-z]|$)/;
  // They keep their text elsewhere, and show only what is visible of it.
  const EDITORS = ".CodeMirror, .cm-editor, .monaco-editor, .ace_editor";
  const NAME_LIMIT = 200;
  const READ_LIMIT = 1000;
  /** The most nodes that are looked at for a name. */
  const NODE_LIMIT = 1000;

  const secrets = new WeakSet();

  const hasText = (element) => text.isEntry(element) || text.isEditable(element);

  const isEditor = (element) => call(element, "closest", EDITORS) !== null;

  /** Whether what an element holds must not leave the page; once it did not, it never does. */
  const isSecret = (element) => {
    if (secrets.has(element)) return true;
    if (!hasText(element)) return false;
    const words = (name) => attribute(element, name).replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
    const isSecretName = (name) => SECRET_NAMES.test(words(name).replace(/[_\-.[\]]+/g, " "));
    const security = getComputedStyle(element).webkitTextSecurity || "none";
    const secret =
      inputType(element) === "password" || words("autocomplete").split(/\s+/).some((word) => SECRET_TOKENS.test(word)) ||
      security !== "none" || isSecretName("name") || isSecretName("id");
    if (secret) secrets.add(element);
    return secret;
  };

  /** The closed shadow trees where an event is, of which it names the outermost host. */
  const closedRoots = ({ clientX, clientY }, host) => {
    const roots = new Set();
    for (let root = shadowRoot(host); root && !roots.has(root);) {
      roots.add(root);
      root = shadowRoot(clientX === undefined ? root.activeElement : root.elementFromPoint(clientX, clientY));
    }
    return roots;
  };

  /** Notes the passwords where an event is: once shown, they look like other entries. */
  const noteSecrets = (event) => {
    const path = event.composedPath();
    const roots = [...path.filter((node) => node instanceof ShadowRoot), ...closedRoots(event, path[0])];
    for (const entry of [
      ...call(document, "querySelectorAll", "input[type=password]"),
      ...roots.flatMap((root) => [...root.querySelectorAll("input[type=password]")]),
    ]) secrets.add(entry);
  };

  const role = (element) => {
    const [given] = attribute(element, "role").trim().toLowerCase().split(/\s+/);
    if (ROLES.has(given)) return given;
    if (inputType(element)) return INPUT_ROLES[inputType(element)] ?? "textbox";
    if (text.isEditable(element)) return "textbox";
    return TAG_ROLES[get(element, "localName")] ?? "generic";
  };

  const clean = (value) => text.whole(value.replaceAll("\0", "").replace(/\s+/g, " ").trim().slice(0, NAME_LIMIT));

  /** The beginning of what an element shows, without what is in `except` and what somebody types: that may be secret. */
  const shown = (element, except) => {
    let [found, left] = ["", NODE_LIMIT];
    const visit = (node) => {
      left -= 1;
      if (text.isText(node)) found += node.data;
      if (!text.isElement(node) || node === except || text.isHidden(node) || hasText(node)) return;
      let child = get(node, "firstChild");
      for (; child && left > 0 && found.length < READ_LIMIT; child = get(child, "nextSibling")) visit(child);
    };
    if (element) visit(element);
    return found.slice(0, READ_LIMIT);
  };

  /** What the elements show whose ids an attribute names, which are ids of the element's own tree. */
  const referenced = (element, name) => {
    const root = call(element, "getRootNode");
    const find = (id) => (root instanceof ShadowRoot ? root.getElementById(id) : call(document, "getElementById", id));
    return attribute(element, name).split(/\s+/).filter(Boolean).slice(0, 8).map((id) => shown(find(id))).join(" ");
  };

  const name = (element) => {
    const isList = element instanceof HTMLSelectElement;
    const isInput = inputType(element) || isList || element instanceof HTMLTextAreaElement;
    const isButton = ["submit", "reset", "button"].includes(inputType(element));
    const names = [
      () => referenced(element, "aria-labelledby"), () => attribute(element, "aria-label"),
      () => (isInput ? shown(element.labels?.[0], element) : ""), () => (isButton ? element.value : ""),
      () => attribute(element, "placeholder"), () => attribute(element, "alt"), () => (isList ? "" : shown(element)),
      () => attribute(element, "title"),
    ];
    return names.reduce((found, next) => found || clean(next()), "");
  };

  /** Whether an entry is disabled, or a fieldset that it is in. */
  const isOff = (element) => call(element, "matches", ":disabled");

  const number = (value, otherwise) => {
    const result = value === "" ? NaN : Number(value);
    return Number.isFinite(result) ? result : otherwise;
  };

  /** The range of a slider or a spin button; null if it has none. */
  const range = (element) => {
    if (["range", "number"].includes(inputType(element))) {
      const { step, min, max, readOnly } = element;
      const isSlider = element.type === "range";
      return {
        access: isOff(element) || (!isSlider && readOnly) ? "r" : "rw",
        value: number(element.value),
        minimum: number(min, isSlider ? 0 : -Number.MAX_VALUE),
        maximum: number(max, isSlider ? 100 : Number.MAX_VALUE),
        step: step === "any" ? 0 : Math.max(number(step, 1), 0) || 1,
      };
    }
    const value = RANGES.has(role(element)) ? number(attribute(element, "aria-valuenow")) : undefined;
    if (value === undefined) return null;
    return {
      access: "r", value, step: 0, minimum: number(attribute(element, "aria-valuemin"), 0),
      maximum: number(attribute(element, "aria-valuemax"), 100),
    };
  };

  const isDisabled = (element) =>
    (inputType(element) && isOff(element)) || attribute(element, "aria-disabled") === "true";

  /** Whether a check box is checked; null if it is not one. */
  const checked = (element) => {
    if (["checkbox", "radio"].includes(inputType(element))) return element.checked;
    const roleName = role(element);
    const given =
      (TOGGLES.has(roleName) && attribute(element, "aria-checked")) ||
      (roleName === "button" && attribute(element, "aria-pressed"));
    return given ? given === "true" : null;
  };

  const isWritable = (element) =>
    text.isEntry(element) ? !element.readOnly && !isOff(element) : attribute(element, "aria-readonly") !== "true";

  const textState = (element) => {
    const access = isWritable(element) ? "rw" : "r";
    if (isSecret(element)) return { kind: "secret", access };
    return isEditor(element) ? { kind: "editor" } : { kind: "text", access, ...text.state(element) };
  };

  /** What is told of an element. */
  const state = (element) => {
    const told = { role: role(element), name: name(element) };
    const description = clean(referenced(element, "aria-describedby")) || clean(attribute(element, "aria-description"));
    if (description) told.description = description;
    if (hasText(element)) told.text = textState(element);
    if (told.text?.kind === "secret") return told;
    const extent = range(element);
    if (extent) told.range = extent;
    const isChecked = checked(element);
    if (isChecked !== null) [told.checked, told.checkable] = [isChecked, isDisabled(element) ? "r" : "rw"];
    return told;
  };

  focusdPage.kinds = { hasText, isEditor, isSecret, noteSecrets, isWritable, isDisabled, range, checked, state };
}
