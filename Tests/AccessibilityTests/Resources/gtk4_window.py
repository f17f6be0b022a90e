"""A window of GTK 4 with entries that show their text, and some that do not."""

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gtk

SECRET = "correct-horse-battery"


def show(application):
    window = Gtk.ApplicationWindow(application=application, title="Controls")
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    password = Gtk.PasswordEntry()
    password.set_text(SECRET)
    hidden = Gtk.Entry(visibility=False)
    hidden.set_text(SECRET)
    scale = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 10, 0.5)
    entry = Gtk.Entry()
    entry.set_text("abc")
    for widget in [entry, password, hidden, scale, Gtk.Entry(visibility=False)]:
        box.append(widget)
    window.set_child(box)
    window.present()


application = Gtk.Application(application_id="org.focusd.Controls")
application.connect("activate", show)
application.run([])
