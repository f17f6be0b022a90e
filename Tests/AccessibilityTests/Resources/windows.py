"""A window with an entry for each title: windows.py TOOLKIT FILE TITLE...

The program writes what the entries hold to FILE, by their windows' numbers, each time that it changes: the tests judge by
that alone.
"""

import json
import os
import sys

import kits

toolkit, path, *titles = sys.argv[1:]
texts = {}


def changed(number, text):
    """Replaces the file."""
    texts[number] = text
    with open(path + ".new", "w") as file:
        json.dump(texts, file)
    os.rename(path + ".new", path)


def window(number, title):
    def gtk(Gtk):
        entry = Gtk.Entry()
        entry.connect("changed", lambda entry: changed(number, entry.get_text()))
        return [entry]

    def qt(widgets):
        entry = widgets.QLineEdit()
        entry.textChanged.connect(lambda text: changed(number, text))
        return [entry]

    changed(number, "")
    return title, gtk, qt


kits.run_all(toolkit, [window(number, title) for number, title in enumerate(titles)])
