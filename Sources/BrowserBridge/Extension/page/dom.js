// Members of documents and nodes as the browser made them: the entries of a page's forms hide those of the same name.
"use strict";

// What an extension that was updated or disabled has left in the page serves nobody any more, and has no name.
if (!Object.hasOwn(globalThis, "focusdPage") || !globalThis.focusdPage.api.runtime?.id) {
  const api = globalThis.browser ?? globalThis.chrome;
  const { Document, HTMLElement, HTMLInputElement, ShadowRoot } = globalThis;

  /** A member of a document, or of a node that may be a form; entries and text nodes have no entries of their own. */
  const get = (object, name) =>
    Reflect.get((object instanceof Document ? Document : HTMLElement).prototype, name, object);
  const call = (object, name, ...values) => Reflect.apply(get(object, name), object, values);
  const attribute = (element, name) => call(element, "getAttribute", name) ?? "";

  /** The root of an element's shadow tree, also of a closed one; else null. */
  const shadowRoot = (element) => {
    if (!(element instanceof HTMLElement)) return null;
    if (api.dom?.openOrClosedShadowRoot) return api.dom.openOrClosedShadowRoot(element);
    return element.openOrClosedShadowRoot ?? element.shadowRoot;
  };

  /** The element that has focus in this document, in whatever shadow tree; null if none has. */
  const activeElement = () => {
    let active = get(document, "activeElement");
    for (let inner = active; inner; inner = shadowRoot(active)?.activeElement) active = inner;
    return active;
  };

  /** The selection of the tree that a node is in. */
  const selection = (node) => {
    const root = call(node, "getRootNode");
    return root instanceof ShadowRoot && root.getSelection ? root.getSelection() : call(document, "getSelection");
  };

  /** The type of an `<input>`; undefined for all other elements. */
  const inputType = (element) => (element instanceof HTMLInputElement ? element.type : undefined);

  globalThis.focusdPage = { api, get, call, attribute, shadowRoot, activeElement, selection, inputType };
}
