#!/usr/bin/python3
"""A text entry and a slider of GTK 3 as fields of focusd; needs python3-gi and gir1.2-gtk-3.0.

While one of them has focus, `focusctl get Text.Content` or `focusctl run Range.Increment` reads or changes it.
"""
import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk

import focusd_gtk

entry = Gtk.Entry(text="good morning")
scale = Gtk.Scale(adjustment=Gtk.Adjustment(upper=1, value=0.5, step_increment=0.1))
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12)
for widget in (entry, scale):
    box.add(widget)
window = Gtk.Window(title="GTK 3", child=box, default_width=360)
window.connect("destroy", Gtk.main_quit)
focusd_gtk.entry(entry, "note")
focusd_gtk.range(scale, "volume")
window.show_all()
Gtk.main()
