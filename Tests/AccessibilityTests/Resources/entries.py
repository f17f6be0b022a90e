"""A window with twenty entries, "entry 0" to "entry 19": entries.py TOOLKIT TITLE."""

import sys

import kits

toolkit, title = sys.argv[1:]
TEXTS = [f"entry {number}" for number in range(20)]


def gtk(Gtk):
    for text in TEXTS:
        entry = Gtk.Entry()
        entry.set_text(text)
        yield entry


kits.run(toolkit, title, gtk, lambda widgets: map(widgets.QLineEdit, TEXTS))
