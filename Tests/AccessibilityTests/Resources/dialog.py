"""A window with a button that runs a dialog in a loop of its own, as most programs of GTK 3 do."""

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk


def ask(_button):
    dialog = Gtk.Dialog(title="Dialog", transient_for=window, modal=True)
    dialog.add_button("OK", Gtk.ResponseType.OK)
    entry, check = Gtk.Entry(), Gtk.CheckButton(label="Sure")
    dialog.get_content_area().add(entry)
    dialog.get_content_area().add(check)
    dialog.show_all()
    dialog.run()
    window.set_title(f"Answer {entry.get_text()} {check.get_active()}")
    dialog.destroy()


window = Gtk.Window(title="Window")
button = Gtk.Button(label="Ask")
button.connect("clicked", ask)
window.add(button)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()
