"""A window with an entry and a text of several lines as fields: widgets.py TOOLKIT FILE

Whenever one of the texts changes, FILE has the widgets' own texts, as a JSON array. Standard input is Python that is run.
"""
import json
import os
import sys

toolkit, file = sys.argv[1:]


def write(*_):
    with open(file + ".new", "w", encoding="utf-8") as output:
        json.dump([read() for read in texts], output, ensure_ascii=False)
    os.rename(file + ".new", file)


def obey(*_):
    exec(sys.stdin.buffer.raw.readline().decode(), globals())
    return True


if toolkit.startswith("gtk"):
    import gi

    gi.require_version("Gtk", {"gtk3": "3.0", "gtk4": "4.0"}[toolkit])
    from gi.repository import GLib, Gtk

    import focusd_gtk

    Gtk.init([]) if toolkit == "gtk3" else Gtk.init()
    window, box, entry, secret, view = Gtk.Window(title="widgets"), Gtk.Box(orientation=1), Gtk.Entry(), Gtk.Entry(), Gtk.TextView()
    entry.set_text("Grüße")
    secret.set_visibility(False)
    secret.set_text("hush")
    for widget in (entry, secret, view):
        box.append(widget) if toolkit == "gtk4" else box.add(widget)
    window.set_child(box) if toolkit == "gtk4" else window.add(box)
    focusd_gtk.entry(entry, "entry")
    focusd_gtk.entry(secret, "secret")
    focusd_gtk.text_view(view, "view")
    buffer = view.get_buffer()
    texts = [entry.get_text, secret.get_text, lambda: buffer.get_text(*buffer.get_bounds(), True)]
    for source in (entry, secret, buffer):
        source.connect_after("changed", write)
    window.present() if toolkit == "gtk4" else window.show_all()
    GLib.io_add_watch(0, GLib.IO_IN, obey)
    run = GLib.MainLoop().run
else:
    binding = {"qt5": "PyQt5", "qt6": "PyQt6"}[toolkit[:3]]
    if binding == "PyQt5":
        from PyQt5 import QtCore, QtWidgets
    else:
        from PyQt6 import QtCore, QtWidgets

    import focusd_qt

    application = QtWidgets.QApplication(["widgets"])
    window = QtWidgets.QWidget()
    window.setWindowTitle("widgets")
    entry, secret, view = QtWidgets.QLineEdit("Grüße"), QtWidgets.QLineEdit("hush"), QtWidgets.QTextEdit()
    secret.setEchoMode(QtWidgets.QLineEdit.EchoMode.Password)
    view.setTabChangesFocus(True)
    layout = QtWidgets.QVBoxLayout(window)
    for widget in (entry, secret, view):
        layout.addWidget(widget)
    focusd_qt.line_edit(entry, "entry")
    focusd_qt.line_edit(secret, "secret")
    focusd_qt.text_edit(view, "view")
    texts = [entry.text, secret.text, lambda: view.document().toRawText().replace("\u2029", "\n")]
    for source in (entry, secret, view):
        source.textChanged.connect(write)
    window.show()
    notifier = QtCore.QSocketNotifier(0, QtCore.QSocketNotifier.Type.Read)
    notifier.activated.connect(obey)
    run = application.exec

write()
print("shown", flush=True)
run()
