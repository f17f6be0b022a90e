"""A window of a GTK application with one action."""

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gio, Gtk


def activated(application):
    window = Gtk.ApplicationWindow(application=application, title="actions")
    window.add_action(Gio.SimpleAction.new("mark", None))
    window.show_all()


program = Gtk.Application(application_id="org.focusd.test.Actions")
program.connect("activate", activated)
program.run()
