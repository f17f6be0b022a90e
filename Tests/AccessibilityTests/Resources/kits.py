"""Windows in the toolkit that the command line names."""

import json
import os
import re


def save(path, texts):
    """Replaces the file that tells what widgets hold; half a character is written as U+FFFD."""
    texts = {name: re.sub("[\ud800-\udfff]", "\ufffd", text) for name, text in texts.items()}
    with open(path + ".new", "w") as file:
        json.dump(texts, file)
    os.rename(path + ".new", path)


def run(toolkit, title, gtk_widgets, qt_widgets):
    """Shows a window of TOOLKIT with the widgets, in a column, that gtk_widgets(Gtk) or qt_widgets(QtWidgets) makes."""
    run_all(toolkit, [(title, gtk_widgets, qt_widgets)])


def run_all(toolkit, windows):
    """Shows a window for each of windows, which are what run() takes after the toolkit."""
    if toolkit == "qt5":
        from PyQt5 import QtWidgets

        _qt(QtWidgets, windows)
    elif toolkit == "qt6":
        from PyQt6 import QtWidgets

        _qt(QtWidgets, windows)
    else:
        _gtk({"gtk3": "3.0", "gtk4": "4.0"}[toolkit], windows)


def _gtk(version, windows):
    import gi

    gi.require_version("Gtk", version)
    from gi.repository import Gtk

    def show(application):
        for title, widgets, _ in windows:
            window = Gtk.ApplicationWindow(application=application, title=title)
            box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
            for widget in widgets(Gtk):
                box.append(widget) if version == "4.0" else box.add(widget)
            if version == "4.0":
                window.set_child(box)
                window.present()
            else:
                window.add(box)
                window.show_all()

    application = Gtk.Application(application_id="org.focusd." + windows[0][0])
    application.connect("activate", show)
    application.run([])


def _qt(widgets, windows):
    application = widgets.QApplication([windows[0][0]])
    shown = []
    for title, _, make in windows:
        window = widgets.QWidget()
        window.setWindowTitle(title)
        layout = widgets.QVBoxLayout(window)
        for widget in make(widgets):
            layout.addWidget(widget)
        window.show()
        shown.append(window)
    application.exec_() if hasattr(application, "exec_") else application.exec()
