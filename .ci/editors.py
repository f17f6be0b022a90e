"""Pages with editors, for .ci/browser: `begin` sets a text and puts the caret at its end, and `held` tells the text."""

import os

FOLDERS = {"/codemirror5/": "/usr/share/javascript/codemirror/", "/nodejs/": "/usr/share/nodejs/"}


def folders(arguments):
    return {**FOLDERS, "/packages/": os.path.join(arguments[0], "") if arguments else "/nowhere/"}


class Editor:
    def __init__(self, title, file, body, shows=True, undoes=True, before="one", line_break="|"):
        """`shows`: it shows its text; `undoes`: Ctrl+Z takes back what was written; `before`: what `begin` makes it hold."""
        self.title, self.file, self.page = title, file, title.replace(" ", "").lower() + ".html"
        self.shows, self.undoes, self.before, self.line_break = shows, undoes, before, line_break
        self.text = f'<!doctype html><meta charset="utf-8"><title>{title}</title>{body}'

    def is_installed(self, folders):
        return any(os.path.exists(self.file.replace(prefix, str(path), 1)) for prefix, path in folders.items() if self.file.startswith(prefix))


CODEMIRROR5 = """<link rel="stylesheet" href="/codemirror5/codemirror.css"><script src="/codemirror5/codemirror.js"></script><body><script>
var editor = CodeMirror(document.body, { value: "one" }); var held = () => editor.getValue(); var isReady = () => true;
var begin = (text) => { editor.setValue(text); editor.focus(); editor.setCursor(0, text.length); };
</script>"""
CODEMIRROR6 = """<script src="/packages/django_codemirror6/static/cm6/cm6.js"></script><body><script>
var editor = new CM6.EditorView({ parent: document.body, state: CM6.EditorState.create({ doc: "one",
  extensions: [CM6.history(), CM6.keymap.of([...CM6.defaultKeymap, ...CM6.historyKeymap])] }) });
var held = () => editor.state.doc.toString(); var isReady = () => true;
var begin = (text) => { editor.focus(); editor.dispatch({
  changes: { from: 0, to: editor.state.doc.length, insert: text }, selection: { anchor: text.length } }); };
</script>"""
PROSEMIRROR = """<script type="importmap">
{"imports": {"django-prose-editor/editor": "/packages/django_prose_editor/static/django_prose_editor/editor.js"}}</script><body><textarea id="area"><p>one</p></textarea><script type="module">
import { Document, Paragraph, Text, History, HardBreak, createTextareaEditor } from "django-prose-editor/editor";
globalThis.editor = createTextareaEditor(document.getElementById("area"), [Document, Paragraph, Text, History, HardBreak]);
</script><script>var isReady = () => Boolean(globalThis.editor); var held = () => editor.getText({ blockSeparator: "|" });
var begin = (text) => { editor.commands.setContent(`<p>${text}</p>`); editor.commands.focus("end"); };</script>"""
TIPTAP = """<script src="/packages/django_tiptap_editor/static/django_tiptap_editor/tiptap.bundle.js"></script><body>
<textarea id="area"><p>one</p></textarea><script>var editor = DjangoTipTap.init(document.getElementById("area"), {});
var isReady = () => true; var held = () => editor.getText({ blockSeparator: "|" });
var begin = (text) => { editor.commands.setContent(`<p>${text}</p>`); editor.commands.focus("end"); };</script>"""
TINYMCE = """<script src="/packages/tinymce/static/tinymce/tinymce.min.js"></script><body><textarea id="area"><p>one</p></textarea><script>
tinymce.init({ selector: "#area", license_key: "gpl", promotion: false, setup: (editor) => editor.on("init", () => { ready = true; }) });
var ready = false; var isReady = () => ready; var held = () => tinymce.activeEditor.getContent({ format: "text" });
var begin = (text) => { const editor = tinymce.activeEditor; editor.setContent(`<p>${text}</p>`); editor.focus();
  editor.selection.select(editor.getBody(), true); editor.selection.collapse(false); };</script>"""
LEXICAL = """<body><div id="root"></div><input type="hidden" data-lexical-id="hidden-input" value="">
<input type="hidden" id="files-endpoint-input" value="/none">
<script type="module" src="/packages/lexical_editor/static/lexical_editor/assets/lexical.js"></script>
<script>var find = () => document.querySelector("[data-lexical-editor]"); var isReady = () => find() !== null;
var held = () => [...find().children].map((line) => line.innerText.trim()).join("|");
var begin = () => { find().focus(); getSelection().selectAllChildren(find()); document.execCommand("delete"); };</script>"""
REACT = """<script src="/nodejs/react/umd/react.production.min.js"></script><script src="/nodejs/react-dom/umd/react-dom.production.min.js"></script>
<body><div id="root"></div><script>
var state; const Entry = () => { const [value, setValue] = React.useState("one"); state = { value, setValue };
  return React.createElement("input", { id: "entry", value, onChange: (event) => setValue(event.target.value) }); };
ReactDOM.createRoot(document.getElementById("root")).render(React.createElement(Entry));
var entry = () => document.getElementById("entry"); var isReady = () => entry() !== null;
var held = () => state.value === entry().value ? state.value : `${state.value}, but shows ${entry().value}`;
var begin = (text) => { state.setValue(text); setTimeout(() => { entry().focus(); entry().setSelectionRange(9, 9); }, 50); };
</script>"""

ALL = [
    Editor("CodeMirror 5", "/codemirror5/codemirror.js", CODEMIRROR5, shows=False, line_break="\n"),
    Editor("CodeMirror 6", "/packages/django_codemirror6/static/cm6/cm6.js", CODEMIRROR6, shows=False, line_break="\n"),
    Editor("ProseMirror", "/packages/django_prose_editor/static/django_prose_editor/editor.js", PROSEMIRROR),
    Editor("TipTap", "/packages/django_tiptap_editor/static/django_tiptap_editor/tiptap.bundle.js", TIPTAP),
    Editor("TinyMCE", "/packages/tinymce/static/tinymce/tinymce.min.js", TINYMCE, undoes=False, line_break="\n"),
    Editor("Lexical", "/packages/lexical_editor/static/lexical_editor/assets/lexical.js", LEXICAL, before=""),
    Editor("React", "/nodejs/react-dom/umd/react-dom.production.min.js", REACT, line_break=""),
]
