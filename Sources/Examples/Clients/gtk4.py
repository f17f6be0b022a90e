#!/usr/bin/python3
"""A text entry and a slider of GTK 4 as fields of focusd; needs python3-gi and gir1.2-gtk-4.0.

While one of them has focus, `focusctl get Text.Content` or `focusctl run Range.Increment` reads or changes it.
"""
import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, Gtk

import focusd_gtk


def activate(application):
    entry = Gtk.Entry(text="good morning")
    scale = Gtk.Scale(adjustment=Gtk.Adjustment(upper=1, value=0.5, step_increment=0.1))
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12)
    for widget in (entry, scale):
        box.append(widget)
    window = Gtk.ApplicationWindow(application=application, title="GTK 4", child=box, default_width=360)
    focusd_gtk.entry(entry, "note")
    focusd_gtk.range(scale, "volume")
    window.present()


application = Gtk.Application(application_id="org.example.Fields", flags=Gio.ApplicationFlags.NON_UNIQUE)
application.connect("activate", activate)
application.run()
