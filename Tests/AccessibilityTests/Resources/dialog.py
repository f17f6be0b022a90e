"""A window with a button that runs a dialog in a loop of its own, as most programs of GTK 3 do."""

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk


def ask(_button):
    dialog = Gtk.Dialog(title="Dialog", transient_for=window, modal=True)
    dialog.add_button("OK", Gtk.ResponseType.OK)
    dialog.set_default_response(Gtk.ResponseType.OK)
    entry = Gtk.Entry(activates_default=True)
    dialog.get_content_area().add(entry)
    entry.show()
    dialog.run()
    window.set_title(f"Answer {entry.get_text()}")
    dialog.destroy()


window = Gtk.Window(title="Window")
button = Gtk.Button(label="Ask")
button.connect("clicked", ask)
window.add(button)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()
