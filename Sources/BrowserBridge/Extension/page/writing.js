// What others write into elements, and run on them: as somebody would who sits there, so that the page can undo it.
"use strict";

if (!Object.hasOwn(focusdPage, "perform")) {
  const { get, call, activeElement, selection, inputType, text, kinds } = focusdPage;
  /** How long a page may take to show what was written, in milliseconds. */
  const PATIENCE = 400;
  /** How long a text may take to be typed, in milliseconds: less than who asked waits. */
  const TYPING = 1000;
  /** The most lines that are typed into an entry of several as HTML, which takes a second or more. */
  const TYPED_LINES = 5000;

  class Refusal extends Error {}
  const refuse = (reason) => {
    throw new Refusal(reason);
  };

  const execute = (command, value = "") => call(document, "execCommand", command, false, value);
  const dispatch = (element, event) => call(element, "dispatchEvent", event);
  const pause = (milliseconds) => new Promise((resume) => setTimeout(resume, milliseconds));
  const isActive = (element) => activeElement() === element;

  /** Waits for what a page shows that works off its events later; whether it came. */
  const comes = async (holds) => {
    // By the clock: in a tab that is not shown, a pause takes a second, or a minute.
    const end = performance.now() + PATIENCE;
    while (!holds()) {
      if (performance.now() >= end) return false;
      await pause(20);
    }
    return true;
  };

  const verify = async (holds) => (await comes(holds)) || refuse("refused");

  /** Sets what the page holds itself, if nobody could type it. */
  const change = (element, set) => {
    set();
    dispatch(element, new Event("input", { bubbles: true, composed: true }));
    dispatch(element, new Event("change", { bubbles: true }));
  };

  // MARK: Texts

  /** Lines as HTML; a line break at the end counts only before another. */
  const markup = (lines) =>
    lines.map((line) => line.replace(/[&<>]/g, (found) => `&#${found.charCodeAt(0)};`)).join("<br>") +
    (lines.at(-1) === "" ? "<br>" : "");

  /** Types a text over the selection; whether that was possible, also if the page made nothing of it. */
  const type = (wanted) => {
    const lines = wanted.split("\n");
    // A line break that is inserted as text takes Chromium longer with each line: 2,000 take half a minute. Firefox has no
    // HTML in entries.
    const isMarkup = lines.length > 1 && call(document, "queryCommandEnabled", "insertHTML");
    if (isMarkup && lines.length > TYPED_LINES) {
      // Editors take nothing but what is typed.
      if (kinds.isEditor(activeElement())) refuse("refused");
      return false;
    }
    let event;
    const listener = (sent) => { event = sent; };
    globalThis.addEventListener("beforeinput", listener, true);
    const isDone =
      isMarkup ? execute("insertHTML", markup(lines)) : execute(wanted === "" ? "delete" : "insertText", wanted);
    globalThis.removeEventListener("beforeinput", listener, true);
    return isDone || event?.defaultPrevented === true;
  };

  const writeEntry = (element, { value, start, end }, wanted, isWhole) => {
    if (isActive(element) && !text.isValue(element)) {
      if (isWhole) element.select();
      // An editor empties the area that it reads.
      if (type(wanted) || element.value !== value || kinds.isEditor(element)) return;
    } else if (!isWhole && (start === null || kinds.isEditor(element))) {
      // Only what types knows where the caret is.
      refuse(text.isValue(element) ? "refused" : "unfocused");
    }
    if (isWhole) change(element, () => { element.value = wanted; });
    else if (start !== null && value.slice(start, end) !== wanted) {
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

  /** Undoes what was typed into an editable element, a step or two for each line, and refuses. */
  const takeBack = (element, { value, content }, wanted) => {
    const isBack = () => get(element, "textContent") === content && text.read(element).value === value;
    for (let steps = 2 * wanted.split("\n").length; steps > 0 && isActive(element) && !isBack(); steps -= 1) {
      const held = get(element, "innerHTML");
      if (!execute("undo")) break;
      if (get(element, "innerHTML") !== held) continue;
      // The page wrote it itself, and this was another element's.
      execute("redo");
      break;
    }
    refuse("refused");
  };

  /** Has an undo take back nothing that was typed before: Chromium takes it together until the selection is set. */
  const endTyping = (element) => {
    const now = selection(element);
    if (!now?.anchorNode || !call(element, "contains", now.anchorNode)) return;
    now.setBaseAndExtent(now.anchorNode, now.anchorOffset, now.focusNode, now.focusOffset);
  };

  const writeEditable = async (element, before, wanted, isWhole) => {
    const { value, start, end } = before;
    const checkFocus = () => isActive(element) || refuse("unfocused");
    checkFocus();
    if (isWhole) {
      selection(element)?.selectAllChildren(element);
      // The page hears of a selection after the script, and editors write at the one that they know.
      await pause(20);
      checkFocus();
      // Somebody has clicked meanwhile.
      if (value !== "" && selection(element)?.isCollapsed) refuse("refused");
    }
    endTyping(element);
    const target = selection(element)?.focusNode ?? element;
    const receiver = target instanceof Text ? target.parentNode : target;
    if (wanted.includes("\n") && paste(receiver, wanted)) {
      // What replaces its equal changes nothing. Typed as well, it would be there twice if it comes later.
      if (isWhole || value.slice(start, end) !== wanted) await verify(() => text.read(element).value !== value);
      return;
    }
    // A line break alone takes the place of a selection only afterwards.
    if (wanted === "" || (wanted[0] === "\n" && !selection(element)?.isCollapsed)) execute("delete");
    let length = 0;
    const deadline = performance.now() + TYPING;
    wanted.split("\n").forEach((line, index) => {
      if (performance.now() > deadline) takeBack(element, before, wanted);
      // A page may go elsewhere at the end of a line, or send what it has.
      if (index > 0) execute("insertParagraph");
      checkFocus();
      if (get(element, "textContent").length < length) refuse("refused");
      if (line !== "") execute("insertText", line);
      length = get(element, "textContent").length;
    });
  };

  /** A text with one kind of line break, or with none for an entry of one line. */
  const oneKindOfBreak = (element, value) =>
    inputType(element) ? value.replace(/[\r\n]+/g, "") : value.replace(/\r\n?/g, "\n");

  /** The part of a text that an entry lets somebody type. */
  const limited = (element, { value, start, end }, wanted, isWhole) => {
    if (wanted === "" || !text.isTyped(element) || element.maxLength < 0 || (!isWhole && start === null)) return wanted;
    const room = element.maxLength - (isWhole ? 0 : value.length - (end - start));
    if (wanted.length <= room) return wanted;
    return wanted.slice(0, Math.max(room, 0)).replace(/[\uD800-\uDBFF]$/, "") || refuse("refused");
  };

  /** What an entry makes of a text: one for numbers, dates or times takes no other. */
  const sanitized = (element, wanted) => {
    if (!inputType(element)) return wanted;
    const probe = call(element, "cloneNode");
    probe.value = wanted;
    return probe.value;
  };

  /** A text without what entries add to it or change of it: separators, and upper case. */
  const bare = (value) => value.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

  /** Refuses if nothing is left of a text that was written. */
  const checkKept = (element, wanted, before, isWhole) => {
    if (!/\S/.test(wanted) || kinds.isEditor(element) || text.read(element).value !== "") return;
    if (text.isEntry(element) && !text.isTyped(element)) {
      // What is typed of a number may be none yet; over one, it is an error.
      if (!isWhole && before.value === "") return;
      change(element, () => { element.value = before.value; });
    }
    if (!text.isEntry(element)) takeBack(element, before, wanted);
    refuse("refused");
  };

  /** Refuses if a text was written beside all that was there: Chromium does not replace what cannot be edited. */
  const checkReplaced = (element, wanted, before, isWhole) => {
    if (!isWhole || text.isEntry(element) || kinds.isEditor(element) || before.value === "" || wanted === "") return;
    const { value } = text.read(element);
    const hasBoth = value.length >= before.value.length + wanted.length && value.replace(wanted, "").includes(before.value);
    if (hasBoth && value !== wanted) takeBack(element, before, wanted);
  };

  /** Replaces the selection, or all, with a text. */
  const write = async (element, value, isWhole) => {
    if (!kinds.hasText(element)) refuse("gone");
    if (!kinds.isWritable(element)) refuse("read-only");
    const before = { ...text.read(element), content: get(element, "textContent") };
    const wasBad = element.validity?.badInput;
    const wanted = limited(element, before, oneKindOfBreak(element, value), isWhole);
    const replaced = isWhole ? before.value : before.value.slice(before.start, before.end);
    // Where nothing is selected, deleting takes the character before the caret.
    if (replaced === wanted && (isWhole || wanted === "")) return;
    if (isWhole) {
      const held = sanitized(element, wanted);
      if (held === "" && wanted !== "") refuse("refused");
      if (held === before.value) return;
    }
    await (text.isEntry(element) ? writeEntry : writeEditable)(element, before, wanted, isWhole);
    // Some pages take back what they do not want as soon as the events are over.
    if (get(document, "visibilityState") === "visible") await pause(0);
    if (!get(element, "isConnected")) refuse("gone");
    checkKept(element, wanted, before, isWhole);
    checkReplaced(element, wanted, before, isWhole);
    if (!isWhole && (kinds.isEditor(element) || kinds.isSecret(element))) return;
    if (before.start === null && !isWhole) {
      // Where the selection is not known, what is there already may have been replaced by its equal; Chromium leaves letters out.
      const isExpected = /[\p{L}\p{N}]/u.test(wanted) && !before.value.includes(wanted);
      const hasChanged = () => text.read(element).value !== before.value || element.validity?.badInput !== wasBad;
      if (isExpected) await verify(hasChanged);
      return;
    }
    // What replaces its equal changes nothing.
    if (replaced === wanted || (await comes(() => text.read(element).value !== before.value))) return;
    // An entry may have its own way to write what it has already.
    if (!isWhole || kinds.isSecret(element) || bare(wanted) === "" || bare(wanted) !== bare(before.value)) refuse("refused");
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
      wanted >= minimum && wanted <= maximum
        ? Math.abs(wanted - value) <= step * 0.501 : value === minimum || value === maximum;
    if (value === undefined || (value === before.value && !isNear)) refuse("refused");
  };

  const stepBy = async (element, direction) => {
    const { value = 0, minimum, maximum, step } = extent(element);
    if (step > 0) {
      // The browser knows where the steps begin, and what decimals they have.
      change(element, () => (direction > 0 ? element.stepUp() : element.stepDown()));
      const next = kinds.range(element)?.value;
      if (next === value && (direction > 0 ? value + step <= maximum : value - step >= minimum)) refuse("refused");
      return;
    }
    const isBounded = minimum > -Number.MAX_VALUE && maximum < Number.MAX_VALUE;
    const next = value + direction * (isBounded ? (maximum - minimum) / 100 : 1);
    await writeRange(element, Math.min(Math.max(next, minimum), maximum));
  };

  const writeChecked = async (element, wanted) => {
    if (kinds.checked(element) === null) refuse("gone");
    if (kinds.checked(element) === wanted) return;
    if (kinds.isDisabled(element)) refuse("read-only");
    call(element, "click");
    await verify(() => kinds.checked(element) === wanted || !get(element, "isConnected"));
    if (!get(element, "isConnected")) refuse("gone");
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

  /** Selects in an element; in one without a selection of its own, that is the page's, and whoever types types there. */
  const select = (element, start, end) => {
    if (!text.isEntry(element) && !isActive(element)) refuse("unfocused");
    text.select(element, start, end);
  };

  const writes = {
    "Text.Content": (element, value) => write(element, value, true),
    "Text.SelectedText": (element, value) => write(element, value, false),
    "Text.Caret": (element, value) => select(element, value, value),
    "Text.Selection": (element, [start, end]) => select(element, start, end),
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

  /** Does what a request asks of an element, of which "read" has only the reply; nothing, or why it was refused. */
  focusdPage.perform = async ({ type, key, value, arguments: values }, element) => {
    try {
      if (element && !get(element, "isConnected")) refuse("gone");
      if (type === "focus") {
        call(element, "focus");
        await verify(() => isActive(element));
      } else if (type === "write") {
        await writes[key](element, value);
      } else if (type === "run") {
        await commands[key](element, values);
      }
      return undefined;
    } catch (error) {
      return error instanceof Refusal ? error.message : "refused";
    }
  };
}
