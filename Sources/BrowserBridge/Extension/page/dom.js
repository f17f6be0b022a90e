// Methods and properties as the browser made them: a page's forms and names shadow those of its elements.
"use strict";

// What an extension that was updated or disabled has left in the page serves nobody any more, and has no name.
if (!Object.hasOwn(globalThis, "focusdPage") || !globalThis.focusdPage.api.runtime?.id) {
  const api = globalThis.browser ?? globalThis.chrome;
  const page = { api };
  globalThis.focusdPage = page;

  const getter = (prototype, name) => {
    const { get } = Object.getOwnPropertyDescriptor(prototype, name);
    return (object) => Reflect.apply(get, object, []);
  };
  const setter = (prototype, name) => {
    const { set } = Object.getOwnPropertyDescriptor(prototype, name);
    return (object, value) => Reflect.apply(set, object, [value]);
  };
  const method = (prototype, name) => {
    const function_ = prototype[name];
    return (object, ...values) => Reflect.apply(function_, object, values);
  };
  const { Document, Element, HTMLElement, HTMLInputElement, HTMLTextAreaElement, Node, ShadowRoot } = globalThis;

  page.dom = {
    activeElement: getter(Document.prototype, "activeElement"),
    shadowActiveElement: getter(ShadowRoot.prototype, "activeElement"),
    body: getter(Document.prototype, "body"),
    documentElement: getter(Document.prototype, "documentElement"),
    designMode: getter(Document.prototype, "designMode"),
    hasFocus: method(Document.prototype, "hasFocus"),
    execute: method(Document.prototype, "execCommand"),
    createRange: method(Document.prototype, "createRange"),
    getElementById: method(Document.prototype, "getElementById"),
    selection: method(Document.prototype, "getSelection"),
    shadowSelection: ShadowRoot.prototype.getSelection && method(ShadowRoot.prototype, "getSelection"),
    attribute: method(Element.prototype, "getAttribute"),
    closest: method(Element.prototype, "closest"),
    localName: getter(Element.prototype, "localName"),
    isContentEditable: getter(HTMLElement.prototype, "isContentEditable"),
    focus: method(HTMLElement.prototype, "focus"),
    click: method(HTMLElement.prototype, "click"),
    dispatch: method(EventTarget.prototype, "dispatchEvent"),
    isConnected: getter(Node.prototype, "isConnected"),
    rootNode: method(Node.prototype, "getRootNode"),
    nodeType: getter(Node.prototype, "nodeType"),
    parent: getter(Node.prototype, "parentNode"),
    firstChild: getter(Node.prototype, "firstChild"),
    nextSibling: getter(Node.prototype, "nextSibling"),
    childNodes: getter(Node.prototype, "childNodes"),
    contains: method(Node.prototype, "contains"),
    textContent: getter(Node.prototype, "textContent"),
    data: getter(CharacterData.prototype, "data"),
    labels: {
      input: getter(HTMLInputElement.prototype, "labels"),
      textarea: getter(HTMLTextAreaElement.prototype, "labels"),
    },
    input: {
      type: getter(HTMLInputElement.prototype, "type"),
      checked: getter(HTMLInputElement.prototype, "checked"),
      min: getter(HTMLInputElement.prototype, "min"),
      max: getter(HTMLInputElement.prototype, "max"),
      step: getter(HTMLInputElement.prototype, "step"),
      stepUp: method(HTMLInputElement.prototype, "stepUp"),
      stepDown: method(HTMLInputElement.prototype, "stepDown"),
    },
  };

  // What entries and text areas have in common.
  page.entry = {};
  for (const [name, { prototype }] of Object.entries({ input: HTMLInputElement, textarea: HTMLTextAreaElement })) {
    page.entry[name] = {
      value: getter(prototype, "value"),
      setValue: setter(prototype, "value"),
      start: getter(prototype, "selectionStart"),
      end: getter(prototype, "selectionEnd"),
      direction: getter(prototype, "selectionDirection"),
      readOnly: getter(prototype, "readOnly"),
      disabled: getter(prototype, "disabled"),
      select: method(prototype, "select"),
      setSelection: method(prototype, "setSelectionRange"),
      setRangeText: method(prototype, "setRangeText"),
    };
  }

  /** The root of an element's shadow tree, also of a closed one; else null. */
  page.shadowRoot = (element) => {
    if (!(element instanceof HTMLElement)) return null;
    if (api.dom?.openOrClosedShadowRoot) return api.dom.openOrClosedShadowRoot(element);
    return element.openOrClosedShadowRoot ?? element.shadowRoot;
  };

  /** The element that has focus in this document, in whatever shadow tree; null if none has. */
  page.activeElement = () => {
    let active = page.dom.activeElement(document);
    for (let depth = 0; active && depth < 64; depth += 1) {
      const root = page.shadowRoot(active);
      const inner = root && page.dom.shadowActiveElement(root);
      if (!inner) break;
      active = inner;
    }
    return active;
  };

  /** The selection of the tree that a node is in. */
  page.selection = (node) => {
    const root = page.dom.rootNode(node);
    if (root instanceof ShadowRoot && page.dom.shadowSelection) return page.dom.shadowSelection(root);
    return page.dom.selection(document);
  };
}
