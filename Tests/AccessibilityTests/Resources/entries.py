"""A window with twelve entries, "entry 0" to "entry 11": entries.py TOOLKIT TITLE."""

import sys

toolkit, title = sys.argv[1:]
NUMBERS = range(12)


def gtk(version):
    import gi

    gi.require_version("Gtk", version)
    from gi.repository import Gtk

    def show(application):
        window = Gtk.ApplicationWindow(application=application, title=title)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        for number in NUMBERS:
            entry = Gtk.Entry()
            entry.set_text(f"entry {number}")
            box.append(entry) if version == "4.0" else box.add(entry)
        if version == "4.0":
            window.set_child(box)
            window.present()
        else:
            window.add(box)
            window.show_all()

    application = Gtk.Application(application_id="org.focusd." + title)
    application.connect("activate", show)
    application.run([])


def qt(widgets):
    application = widgets.QApplication([title])
    window = widgets.QWidget()
    window.setWindowTitle(title)
    layout = widgets.QVBoxLayout(window)
    for number in NUMBERS:
        layout.addWidget(widgets.QLineEdit(f"entry {number}"))
    window.show()
    application.exec_() if hasattr(application, "exec_") else application.exec()


if toolkit == "qt5":
    from PyQt5 import QtWidgets

    qt(QtWidgets)
elif toolkit == "qt6":
    from PyQt6 import QtWidgets

    qt(QtWidgets)
else:
    gtk({"gtk3": "3.0", "gtk4": "4.0"}[toolkit])
