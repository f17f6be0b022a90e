"""A window with an entry, a view of several lines and a numeric spin button: texts.py TOOLKIT FILE.

The program writes what its widgets hold to FILE each time that it changes: the tests judge by that alone.
"""

import json
import os
import re
import sys

toolkit, path = sys.argv[1:]


def save(texts):
    """Replaces the file; half a character is written as U+FFFD."""
    texts = {name: re.sub("[\ud800-\udfff]", "\ufffd", text) for name, text in texts.items()}
    with open(path + ".new", "w") as file:
        json.dump(texts, file)
    os.rename(path + ".new", path)


def gtk(version):
    import gi

    gi.require_version("Gtk", version)
    from gi.repository import Gtk

    def show(application):
        window = Gtk.ApplicationWindow(application=application, title="Texts")
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        entry, view, spin = Gtk.Entry(), Gtk.TextView(accepts_tab=False), Gtk.SpinButton.new_with_range(0, 100, 1)
        spin.set_numeric(True)
        spin.set_value(5)
        buffer = view.get_buffer()

        def changed(*_):
            text = buffer.get_text(*buffer.get_bounds(), True)
            save({"entry": entry.get_text(), "view": text, "spin": spin.get_text()})

        scrolled = Gtk.ScrolledWindow(height_request=100)
        scrolled.set_child(view) if version == "4.0" else scrolled.add(view)
        for widget in [entry, scrolled, spin]:
            box.append(widget) if version == "4.0" else box.add(widget)
        for source in [entry, buffer, spin]:
            source.connect("changed", changed)
        if version == "4.0":
            window.set_child(box)
            window.present()
        else:
            window.add(box)
            window.show_all()
        changed()

    application = Gtk.Application(application_id="org.focusd.Texts")
    application.connect("activate", show)
    application.run([])


def qt(widgets):
    application = widgets.QApplication(["texts"])
    window = widgets.QWidget()
    window.setWindowTitle("Texts")
    layout = widgets.QVBoxLayout(window)
    entry, view, plain = widgets.QLineEdit(), widgets.QTextEdit(), widgets.QPlainTextEdit()
    half = widgets.QLineEdit("ab\ud83d")
    view.setTabChangesFocus(True)
    plain.setTabChangesFocus(True)

    def changed():
        save({"entry": entry.text(), "view": view.toPlainText(), "plain": plain.toPlainText(), "half": half.text()})

    for widget in [entry, view, plain, half]:
        layout.addWidget(widget)
        widget.textChanged.connect(changed)
    window.show()
    changed()
    application.exec_() if hasattr(application, "exec_") else application.exec()


if toolkit == "qt5":
    from PyQt5 import QtWidgets

    qt(QtWidgets)
elif toolkit == "qt6":
    from PyQt6 import QtWidgets

    qt(QtWidgets)
else:
    gtk({"gtk3": "3.0", "gtk4": "4.0"}[toolkit])
