"""A window with an entry for each title: windows.py TOOLKIT FILE TITLE...

Return opens a dialog with another entry, and Escape closes that.
The entries are named by their windows' numbers. The program writes what they hold to FILE, by these numbers, each time that
it changes: the tests judge by that alone.
"""

import json
import os
import sys

import kits

toolkit, path, *titles = sys.argv[1:]
texts = {}
asked_before = []


def changed(number, text):
    """Replaces the file."""
    texts[number] = text
    with open(path + ".new", "w") as file:
        json.dump(texts, file)
    os.rename(path + ".new", path)


def window(number, title):
    def gtk(Gtk):
        def make(name):
            entry = Gtk.Entry()
            if hasattr(entry, "update_property"):
                entry.update_property([Gtk.AccessibleProperty.LABEL], [f"entry {name}"])
            else:
                entry.get_accessible().set_name(f"entry {name}")
            entry.connect("changed", lambda entry: changed(name, entry.get_text()))
            return entry

        def ask(entry):
            is_new = hasattr(entry, "get_root")
            dialog = Gtk.Dialog(title="dialog", transient_for=entry.get_root() if is_new else entry.get_toplevel())
            box = dialog.get_content_area()
            asked = make("dialog")
            box.append(asked) if is_new else box.add(asked)
            dialog.connect("response", lambda *_: dialog.destroy())
            # Programs do it in either order, and GTK 4.8 then tells other things of the dialog.
            early = asked_before
            asked_before.append(True)
            if early:
                asked.grab_focus()
            dialog.show() if is_new else dialog.show_all()
            if not early:
                asked.grab_focus()

        entry = make(number)
        entry.connect("activate", ask)
        return [entry]

    def qt(widgets):
        def make(name):
            entry = widgets.QLineEdit()
            entry.setAccessibleName(f"entry {name}")
            entry.textChanged.connect(lambda text: changed(name, text))
            return entry

        def ask():
            dialog = widgets.QDialog(entry.window())
            dialog.setWindowTitle("dialog")
            widgets.QVBoxLayout(dialog).addWidget(make("dialog"))
            dialog.show()

        entry = make(number)
        entry.returnPressed.connect(ask)
        return [entry]

    changed(number, "")
    return title, gtk, qt


kits.run_all(toolkit, [window(number, title) for number, title in enumerate(titles)])
