// What others write into elements, and run on them: as somebody would who sits there, so that the page can undo it.
"use strict";

if (!Object.hasOwn(focusdPage, "perform")) {
  const { dom, entry, text, kinds } = focusdPage;
  /** How long a page may take to show what was written, in milliseconds. */
  const PATIENCE = 400;

  class Refusal extends Error {}
  const refuse = (reason) => {
    throw new Refusal(reason);
  };

  const execute = (command, value = "") => dom.execute(document, command, false, value);
  const tell = (element, ...types) => {
    for (const type of types) dom.dispatch(element, new Event(type, { bubbles: true, composed: type === "input" }));
  };
  const pause = (milliseconds) => new Promise((resume) => setTimeout(resume, milliseconds));

  /** Waits until a page that works off its events later shows what was asked for. */
  const verify = async (holds) => {
    for (let waited = 0; !holds(); waited += 20) {
      if (waited >= PATIENCE) refuse("refused");
      await pause(20);
    }
  };

  const isActive = (element) => focusdPage.activeElement() === element;

  // MARK: Entries

  const insertIntoEntry = (element, kind, value) => {
    const of = entry[kind];
    const before = of.value(element);
    if (isActive(element) && !kinds.VALUE_TYPES.has(element.type)) {
      execute(value === "" ? "delete" : "insertText", value);
      if (of.value(element) !== before) return;
    }
    if (of.start(element) === null) return;
    const [start, end] = [of.start(element), of.end(element)];
    if (before.slice(start, end) === value) return;
    of.setRangeText(element, value, start, end, "end");
    tell(element, "input", "change");
  };

  const writeEntry = (element, kind, value) => {
    const of = entry[kind];
    const before = of.value(element);
    if (isActive(element) && !kinds.VALUE_TYPES.has(element.type)) {
      of.select(element);
      execute(value === "" ? "delete" : "insertText", value);
      if (of.value(element) !== before) return;
    }
    if (before === value) return;
    of.setValue(element, value);
    tell(element, "input", "change");
  };

  // MARK: Editable elements

  /** Pastes a text; whether the page takes pastes itself. */
  const paste = (element, value) => {
    const data = new DataTransfer();
    data.setData("text/plain", value);
    // Chromium takes the object, Firefox the two members.
    const event = new ClipboardEvent("paste", {
      bubbles: true, cancelable: true, composed: true, clipboardData: data, dataType: "text/plain", data: value,
    });
    return !dom.dispatch(element, event);
  };

  const insertIntoEditable = async (element, value) => {
    if (!isActive(element)) refuse("unfocused");
    const target = focusdPage.selection(element)?.focusNode;
    const receiver = target && dom.nodeType(target) === 3 ? dom.parent(target) : (target ?? element);
    const before = text.read(element).value;
    if (value.includes("\n") && paste(receiver, value)) {
      await pause(20);
      if (text.read(element).value !== before) return;
    }
    if (value === "") execute("delete");
    value.split("\n").forEach((line, index) => {
      if (index > 0) execute("insertParagraph");
      if (line !== "") execute("insertText", line);
    });
  };

  const select = (element, start, end) => {
    const read = text.read(element);
    const [anchor, focus] = [start, end].map((position) => text.point(read, element, text.unit(read.value, position)));
    focusdPage.selection(element)?.setBaseAndExtent(...anchor, ...focus);
  };

  const selectAll = (element) => {
    const range = dom.createRange(document);
    range.selectNodeContents(element);
    const selection = focusdPage.selection(element);
    selection?.removeAllRanges();
    selection?.addRange(range);
  };

  // MARK: Keys

  const textValue = (element, kind) => (kind ? entry[kind].value(element) : text.read(element).value);

  const writeContent = async (element, value) => {
    const kind = kinds.entryKind(element);
    if (!kind && !kinds.isEditable(element)) refuse("gone");
    if (!kinds.isWritable(element, kind)) refuse("read-only");
    // Entries have one line, and all have one kind of line break.
    let wanted = value.replace(/\r\n?/g, "\n");
    if (kind === "input") wanted = wanted.replaceAll("\n", "");
    const before = textValue(element, kind);
    if (kind) {
      writeEntry(element, kind, wanted);
    } else {
      if (!isActive(element)) refuse("unfocused");
      selectAll(element);
      // The page hears of a selection after the script, and editors write at the one that they know.
      await pause(20);
      await insertIntoEditable(element, wanted);
    }
    await verify(() => textValue(element, kind) !== before || before === wanted);
  };

  const insert = async (element, value) => {
    const kind = kinds.entryKind(element);
    if (!kind && !kinds.isEditable(element)) refuse("gone");
    if (!kinds.isWritable(element, kind)) refuse("read-only");
    const wanted = kind === "input" ? value.replace(/[\r\n]+/g, "") : value.replace(/\r\n?/g, "\n");
    const isBlind = kinds.isEditor(element) || kinds.isSecret(element);
    const before = textValue(element, kind);
    const [start, end] = kind ? [entry[kind].start(element), entry[kind].end(element)]
      : focusdPage.selected(element, text.read(element));
    if (kind) insertIntoEntry(element, kind, wanted);
    else await insertIntoEditable(element, wanted);
    // An editor empties the area that it reads, and what replaces its equal changes nothing.
    if (isBlind || start === null || before.slice(start, end) === wanted) return;
    await verify(() => textValue(element, kind) !== before);
  };

  const writeSelection = (element, start, end) => {
    const kind = kinds.entryKind(element);
    if (!kind) return select(element, start, end);
    const value = entry[kind].value(element);
    return entry[kind].setSelection(element, text.unit(value, start), text.unit(value, end));
  };

  const extent = (element) => kinds.range(element, kinds.role(element)) ?? refuse("gone");

  const writeRange = async (element, value) => {
    const before = extent(element);
    if (before.access !== "rw") refuse("read-only");
    if (before.value === value) return;
    entry.input.setValue(element, String(value));
    tell(element, "input", "change");
    const { value: now, minimum, maximum, step } = extent(element);
    // A slider goes to the step that is nearest.
    const isNear = value >= minimum && value <= maximum ? Math.abs(value - now) <= step : now === minimum || now === maximum;
    if (now === undefined || (now === before.value && !isNear)) refuse("refused");
  };

  const stepBy = async (element, direction) => {
    const { access, value = 0, minimum, maximum, step } = extent(element);
    if (access !== "rw") refuse("read-only");
    const next = value + direction * (step || (maximum - minimum) / 100);
    await writeRange(element, Math.min(Math.max(next, minimum), maximum));
  };

  const writeChecked = async (element, value) => {
    const checked = () => kinds.checked(element, kinds.role(element));
    if (checked() === null) refuse("gone");
    if (checked() === value) return;
    if (kinds.isDisabled(element)) refuse("read-only");
    dom.click(element);
    await verify(() => checked() === value);
  };

  const press = (key, shift) => {
    const target = focusdPage.activeElement() ?? dom.body(document);
    const init = {
      key, code: `Key${key.toUpperCase()}`, keyCode: key.toUpperCase().charCodeAt(0), ctrlKey: true, shiftKey: shift,
      bubbles: true, cancelable: true, composed: true,
    };
    return !dom.dispatch(target, new KeyboardEvent("keydown", init));
  };

  const selectEverything = () => {
    const element = focusdPage.activeElement();
    const kind = element && kinds.entryKind(element);
    if (kind) entry[kind].select(element);
    else execute("selectAll");
  };

  const writes = {
    "Text.Content": writeContent,
    "Text.SelectedText": insert,
    "Text.Caret": async (element, value) => writeSelection(element, value, value),
    "Text.Selection": async (element, [start, end]) => writeSelection(element, start, end),
    "Range.Value": writeRange,
    "Toggle.Checked": writeChecked,
  };

  const commands = {
    "Text.Insert": async (element, [value]) => insert(element, value),
    "Range.Increment": (element) => stepBy(element, 1),
    "Range.Decrement": (element) => stepBy(element, -1),
    "Edit.Undo": async () => press("z", false) || execute("undo"),
    "Edit.Redo": async () => press("z", true) || execute("redo"),
    "Edit.SelectAll": async () => press("a", false) || selectEverything(),
  };

  /** Does what a request asks of an element; nothing, or why it was refused. */
  focusdPage.perform = async (request, element) => {
    try {
      if (element && !dom.isConnected(element)) refuse("gone");
      if (request.type === "focus") {
        dom.focus(element);
        await verify(() => isActive(element));
      } else if (request.type === "write") {
        await writes[request.key](element, request.value);
      } else {
        await commands[request.key](element, request.arguments);
      }
      return undefined;
    } catch (error) {
      return error instanceof Refusal ? error.message : "refused";
    }
  };
}
