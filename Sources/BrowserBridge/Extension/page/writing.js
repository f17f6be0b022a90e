// What others write into elements, and run on them: as somebody would who sits there, so that the page can undo it.
"use strict";

if (!Object.hasOwn(focusdPage, "perform")) {
  const { get, call, activeElement, selection, inputType, text, kinds } = focusdPage;
  /** How long a page may take to show what was written, in milliseconds. */
  const PATIENCE = 400;

  class Refusal extends Error {}
  const refuse = (reason) => {
    throw new Refusal(reason);
  };

  const execute = (command, value = "") => call(document, "execCommand", command, false, value);
  const dispatch = (element, event) => call(element, "dispatchEvent", event);
  const pause = (milliseconds) => new Promise((resume) => setTimeout(resume, milliseconds));
  const isActive = (element) => activeElement() === element;

  /** Waits until a page that works off its events later shows what was asked for. */
  const verify = async (holds) => {
    for (let waited = 0; !holds(); waited += 20) {
      if (waited >= PATIENCE) refuse("refused");
      await pause(20);
    }
  };

  /** Sets what the page holds itself, if nobody could type it. */
  const change = (element, set) => {
    set();
    dispatch(element, new Event("input", { bubbles: true, composed: true }));
    dispatch(element, new Event("change", { bubbles: true }));
  };

  // MARK: Texts

  const writeEntry = (element, wanted, isWhole) => {
    const { value, start, end } = text.read(element);
    if (isActive(element) && !text.isValue(element)) {
      if (isWhole) element.select();
      execute(wanted === "" ? "delete" : "insertText", wanted);
      // An editor empties the area that it reads.
      if (element.value !== value || kinds.isEditor(element)) return;
    }
    if (isWhole && value !== wanted) change(element, () => { element.value = wanted; });
    else if (!isWhole && start !== null && value.slice(start, end) !== wanted) {
      change(element, () => element.setRangeText(wanted, start, end, "end"));
    }
  };

  /** Pastes a text; whether the page takes pastes itself. */
  const paste = (element, value) => {
    const data = new DataTransfer();
    data.setData("text/plain", value);
    // Chromium takes the object, Firefox the two members.
    return !dispatch(element, new ClipboardEvent("paste", {
      bubbles: true, cancelable: true, composed: true, clipboardData: data, dataType: "text/plain", data: value,
    }));
  };

  const writeEditable = async (element, wanted, isWhole) => {
    if (!isActive(element)) refuse("unfocused");
    if (isWhole) {
      selection(element)?.selectAllChildren(element);
      // The page hears of a selection after the script, and editors write at the one that they know.
      await pause(20);
    }
    const target = selection(element)?.focusNode ?? element;
    const receiver = target instanceof Text ? target.parentNode : target;
    const before = text.read(element).value;
    if (wanted.includes("\n") && paste(receiver, wanted)) {
      await pause(20);
      if (text.read(element).value !== before) return;
    }
    if (wanted === "") execute("delete");
    wanted.split("\n").forEach((line, index) => {
      if (index > 0) execute("insertParagraph");
      if (line !== "") execute("insertText", line);
    });
  };

  /** Replaces the selection, or all, with a text. */
  const write = async (element, value, isWhole) => {
    if (!kinds.hasText(element)) refuse("gone");
    if (!kinds.isWritable(element)) refuse("read-only");
    // Entries have one line, and all have one kind of line break.
    const wanted = inputType(element) ? value.replace(/[\r\n]+/g, "") : value.replace(/\r\n?/g, "\n");
    const before = text.read(element);
    await (text.isEntry(element) ? writeEntry : writeEditable)(element, wanted, isWhole);
    const replaced = isWhole ? before.value : before.value.slice(before.start, before.end);
    // What replaces its equal changes nothing.
    const isBlind = !isWhole && (kinds.isEditor(element) || kinds.isSecret(element) || before.start === null);
    if (!isBlind && replaced !== wanted) await verify(() => text.read(element).value !== before.value);
  };

  // MARK: Ranges and check boxes

  const extent = (element) => {
    const found = kinds.range(element) ?? refuse("gone");
    return found.access === "rw" ? found : refuse("read-only");
  };

  const writeRange = async (element, wanted) => {
    const before = extent(element);
    if (before.value === wanted) return;
    change(element, () => { element.value = String(wanted); });
    const { value, minimum, maximum, step } = kinds.range(element) ?? refuse("gone");
    // A slider goes to the step that is nearest.
    const isNear =
      wanted >= minimum && wanted <= maximum ? Math.abs(wanted - value) <= step : value === minimum || value === maximum;
    if (value === undefined || (value === before.value && !isNear)) refuse("refused");
  };

  const stepBy = async (element, direction) => {
    const { value = 0, minimum, maximum, step } = extent(element);
    const next = value + direction * (step || (maximum - minimum) / 100);
    await writeRange(element, Math.min(Math.max(next, minimum), maximum));
  };

  const writeChecked = async (element, wanted) => {
    if (kinds.checked(element) === null) refuse("gone");
    if (kinds.checked(element) === wanted) return;
    if (kinds.isDisabled(element)) refuse("read-only");
    call(element, "click");
    await verify(() => kinds.checked(element) === wanted);
  };

  // MARK: Requests

  const press = (key, shiftKey) => {
    const upper = key.toUpperCase();
    return !dispatch(activeElement() ?? get(document, "body"), new KeyboardEvent("keydown", {
      key, code: `Key${upper}`, keyCode: upper.charCodeAt(0), ctrlKey: true, shiftKey,
      bubbles: true, cancelable: true, composed: true,
    }));
  };

  const selectAll = () => {
    const element = activeElement();
    return element && text.isEntry(element) ? element.select() : execute("selectAll");
  };

  const writes = {
    "Text.Content": (element, value) => write(element, value, true),
    "Text.SelectedText": (element, value) => write(element, value, false),
    "Text.Caret": (element, value) => text.select(element, value, value),
    "Text.Selection": (element, [start, end]) => text.select(element, start, end),
    "Range.Value": writeRange,
    "Toggle.Checked": writeChecked,
  };

  const commands = {
    "Text.Insert": (element, [value]) => write(element, value, false),
    "Range.Increment": (element) => stepBy(element, 1),
    "Range.Decrement": (element) => stepBy(element, -1),
    "Edit.Undo": () => press("z", false) || execute("undo"),
    "Edit.Redo": () => press("z", true) || execute("redo"),
    "Edit.SelectAll": () => press("a", false) || selectAll(),
  };

  /** Does what a request asks of an element; nothing, or why it was refused. */
  focusdPage.perform = async ({ type, key, value, arguments: values }, element) => {
    try {
      if (element && !get(element, "isConnected")) refuse("gone");
      if (type === "focus") {
        call(element, "focus");
        await verify(() => isActive(element));
      } else if (type === "write") {
        await writes[key](element, value);
      } else {
        await commands[key](element, values);
      }
      return undefined;
    } catch (error) {
      return error instanceof Refusal ? error.message : "refused";
    }
  };
}
