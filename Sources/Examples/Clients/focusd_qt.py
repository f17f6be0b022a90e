# SPDX-License-Identifier: Apache-2.0
"""Widgets of Qt 5 and Qt 6 as fields of focusd, in a line each. Copy focusd.py and this file beside your program.

    from PyQt6.QtWidgets import QApplication, QLineEdit    # or PyQt5, PySide6, PySide2, before the import
    import focusd_qt

    focusd_qt.line_edit(edit, "note", label="Note")        # QLineEdit
    focusd_qt.text_edit(edit, "letter")                    # QTextEdit, QPlainTextEdit
    focusd_qt.range(slider, "volume", unit=0.01)           # QSlider, QDial, QSpinBox, QDoubleSpinBox
    focusd_qt.toggle(box, "wrap")                          # QCheckBox, and other buttons that can be checked

Each returns the `focusd.Field`, whose focus follows that of the widget and its window. Each takes what `Field` takes, so that a widget may
have more values and commands. A field goes with its widget. For a widget of another kind, or a window with what is the same for all in it,
make a `focusd.Field` and let it follow:

    document = focusd_qt.field(window, focusd.Field("letter", {"org.focusd.Document.Path": path}, {"org.focusd.Document.Save": save}))
    focusd_qt.text_edit(edit, "text", parent=document)
"""
import functools
import importlib
import sys

import focusd

_binding = next((name for name in ("PyQt6", "PySide6", "PyQt5", "PySide2") if name + ".QtWidgets" in sys.modules), None)
if _binding is None:
    raise ImportError("import QtWidgets of PyQt6, PySide6, PyQt5 or PySide2 before focusd_qt")
QtCore, QtGui, QtWidgets = (importlib.import_module(f"{_binding}.{part}") for part in ("QtCore", "QtGui", "QtWidgets"))
_fields = {}


class _Loop(QtCore.QObject):
    """Calls functions from Qt's main loop; GDBus is in a thread of its own if that is not GLib's."""

    posted = (QtCore.pyqtSignal if hasattr(QtCore, "pyqtSignal") else QtCore.Signal)(object)

    def __init__(self):
        super().__init__()
        self.posted.connect(self.run, QtCore.Qt.ConnectionType.QueuedConnection)
        QtWidgets.QApplication.instance().focusChanged.connect(_moved)
        QtWidgets.QApplication.instance().focusWindowChanged.connect(_moved)
        if "glib" not in QtCore.QAbstractEventDispatcher.instance().metaObject().className().lower():
            focusd.use_loop(self.posted.emit)

    def run(self, function):
        function()


def _start():
    application = QtWidgets.QApplication.instance()
    if not hasattr(application, "focusd_loop"):
        application.focusd_loop = _Loop()


def field(widget, field, *signals):
    """Lets the focus of a field of your own follow that of a widget or window, and its values the `signals` of that."""
    _start()
    _fields[widget] = field
    for signal in signals:
        signal.connect(lambda *_: field.publish())
    widget.destroyed.connect(lambda *_: _fields.pop(widget) and field.unregister())
    _moved()
    return field


def _take_focus(widget):
    def take():
        widget.window().activateWindow()
        widget.setFocus()

    return take


def _proxy(widget):
    try:
        return widget.focusProxy()
    except RuntimeError:  # It is being destroyed.
        return None


def _moved(*_):
    application = QtWidgets.QApplication
    # None if no window of this program is active; else the innermost field. In PyQt an empty combo box is false.
    window, widget = application.activeWindow(), application.focusWidget()
    if window is None or widget is None:
        widget = window
    # A combo box has the focus of the entry within it.
    widget = next((each for each in _fields if widget is not None and _proxy(each) == widget), widget)
    while widget is not None and widget not in _fields:
        widget = widget.parentWidget()
    now, before = _fields.get(widget), focusd.Field.focused
    if now and now is not before:
        now.focus()
    elif not now and before in _fields.values():
        before.blur()


def _whole(text):
    """The text without halves of characters, which an entry's limit leaves."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# Qt counts in UTF-16, focusd in characters.
def _to_qt(text, position):
    return len(text[:position].encode("utf-16-le", "surrogatepass")) // 2


def _from_qt(text, position):
    return len(text.encode("utf-16-le", "surrogatepass")[:2 * position].decode("utf-16-le", "ignore"))


def _editable(widget):
    if not widget.isEnabled() or getattr(widget, "isReadOnly", bool)():
        raise focusd.PropertyReadOnly("it cannot be edited now")


_if_editable = functools.partial(focusd.guarded, _editable)


def _edit(widget):
    changes = {"Undo": widget.undo, "Redo": widget.redo, "Cut": widget.cut, "Paste": widget.paste}
    return {"Copy": widget.copy, **{name: _if_editable(widget, change) for name, change in changes.items()}}


def line_edit(widget, name, **options):
    """A text entry; one that hides its text is secret. After `setEchoMode`, call `publish()` of the field: Qt tells nobody."""
    def is_visible():
        return widget.echoMode() == QtWidgets.QLineEdit.EchoMode.Normal

    def text():
        return _whole(widget.text()) if is_visible() else None

    def caret():
        return _from_qt(widget.text(), widget.cursorPosition())

    def selection():
        start = _from_qt(widget.text(), widget.selectionStart())
        return (start, start + len(widget.selectedText())) if widget.hasSelectedText() else (caret(), caret())

    def select(start, end):
        start, end = _to_qt(widget.text(), start), _to_qt(widget.text(), end)
        widget.setCursorPosition(end)
        if start != end:
            widget.setSelection(start, end - start)

    def replace(start, end, new):
        _editable(widget)
        select(start, len(widget.text()) if end is None else end)
        widget.insert(new)

    _start()
    made = focusd.text_field(name, text, caret, selection, select, replace, _edit(widget), not is_visible(),
                             on_focus=_take_focus(widget), **options)
    return field(widget, made, widget.textChanged, widget.cursorPositionChanged, widget.selectionChanged)


def text_edit(widget, name, **options):
    """A text of several lines."""
    def text():
        # Unlike `toPlainText`, it keeps spaces that do not break.
        return _whole(widget.document().toRawText().translate(dict.fromkeys((0x2028, 0x2029, 0xFDD0, 0xFDD1), "\n")))

    def caret():
        return _from_qt(text(), widget.textCursor().position())

    def selection():
        cursor = widget.textCursor()
        return _from_qt(text(), cursor.selectionStart()), _from_qt(text(), cursor.selectionEnd())

    def select(start, end):
        cursor = widget.textCursor()
        cursor.setPosition(_to_qt(text(), start))
        cursor.setPosition(_to_qt(text(), end), QtGui.QTextCursor.MoveMode.KeepAnchor)
        widget.setTextCursor(cursor)

    def replace(start, end, new):
        _editable(widget)
        select(start, len(text()) if end is None else end)
        widget.textCursor().insertText(new)

    _start()
    made = focusd.text_field(name, text, caret, selection, select, replace, _edit(widget), on_focus=_take_focus(widget), **options)
    return field(widget, made, widget.textChanged, widget.cursorPositionChanged, widget.selectionChanged)


def range(widget, name, values={}, commands={}, unit=1, **options):
    """A slider, a dial or a spin button; `unit` is what one of Qt's whole numbers stands for."""
    def scaled(function):
        return lambda: function() * unit

    def write(value):
        value = value / unit
        widget.setValue(value if isinstance(widget, QtWidgets.QDoubleSpinBox) else round(value))

    def move(direction):
        widget.setValue(widget.value() + direction * widget.singleStep())

    _start()
    change = _if_editable(widget, move)
    key, is_slider = "org.focusd.Range.", isinstance(widget, QtWidgets.QAbstractSlider)
    made = focusd.Field(
        name, {"org.focusd.Element.Role": "slider" if is_slider else "spinbutton",
               "org.focusd.Element.Name": options.get("label", name), key + "Value": (scaled(widget.value), _if_editable(widget, write)),
               key + "Minimum": scaled(widget.minimum), key + "Maximum": scaled(widget.maximum),
               key + "Step": scaled(widget.singleStep), **values},
        {key + "Increment": lambda: change(1), key + "Decrement": lambda: change(-1), **commands}, _take_focus(widget), **options)
    return field(widget, made, widget.valueChanged)


def toggle(widget, name, values={}, commands={}, **options):
    """A check box, or another button that can be checked."""
    _start()
    role = "checkbox" if isinstance(widget, QtWidgets.QCheckBox) else "button"
    made = focusd.Field(
        name, {"org.focusd.Element.Role": role, "org.focusd.Element.Name": options.get("label", name),
               "org.focusd.Toggle.Checked": (widget.isChecked, _if_editable(widget, widget.setChecked)), **values},
        commands, _take_focus(widget), **options)
    return field(widget, made, widget.toggled)
