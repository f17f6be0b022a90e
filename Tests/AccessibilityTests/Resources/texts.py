"""A window with an entry, a view of several lines and a numeric spin button: texts.py TOOLKIT FILE.

The program writes what its widgets hold to FILE each time that it changes: the tests judge by that alone.
"""

import sys

import kits

toolkit, path = sys.argv[1:]


def gtk(Gtk):
    entry, view, spin = Gtk.Entry(), Gtk.TextView(accepts_tab=False), Gtk.SpinButton.new_with_range(0, 100, 1)
    spin.set_numeric(True)
    spin.set_value(5)
    buffer = view.get_buffer()

    def changed(*_):
        text = buffer.get_text(*buffer.get_bounds(), True)
        kits.save(path, {"entry": entry.get_text(), "view": text, "spin": spin.get_text()})

    scrolled = Gtk.ScrolledWindow(height_request=100)
    scrolled.set_child(view) if hasattr(scrolled, "set_child") else scrolled.add(view)
    for source in [entry, buffer, spin]:
        source.connect("changed", changed)
    changed()
    return [entry, scrolled, spin]


def qt(widgets):
    entry, view, plain = widgets.QLineEdit(), widgets.QTextEdit(), widgets.QPlainTextEdit()
    half = widgets.QLineEdit("ab\ud83d")
    combo = widgets.QComboBox()
    combo.setEditable(True)
    combo.addItems(["one", "two"])
    view.setTabChangesFocus(True)
    plain.setTabChangesFocus(True)

    menu = widgets.QMenu(entry)
    lock = menu.addAction("Lock")
    lock.setCheckable(True)
    lock.setShortcut("F8")
    entry.addAction(lock)

    def changed():
        kits.save(
            path,
            {
                "entry": entry.text(),
                "view": view.toPlainText(),
                "plain": plain.toPlainText(),
                "half": half.text(),
                "combo": combo.currentText(),
                "lock": str(lock.isChecked()),
            },
        )

    def locked(is_locked):
        for widget in [entry, view, plain]:
            widget.setReadOnly(is_locked)
        changed()

    for widget in [entry, view, plain, half]:
        widget.textChanged.connect(changed)
    combo.editTextChanged.connect(changed)
    lock.toggled.connect(locked)
    changed()
    return [entry, view, plain, half, combo]


kits.run(toolkit, "Texts", gtk, qt)
