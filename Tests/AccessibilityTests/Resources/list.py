"""A window with a list of GTK 3, whose first row is active, an entry and a combo box: list.py [icons]"""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk

store = Gtk.ListStore(str)
for name in ["Alpha", "Beta", "Gamma", "Delta", "Omega"]:
    store.append([name])
view = Gtk.TreeView(model=store, headers_visible=False)
column = Gtk.TreeViewColumn("Name")
if sys.argv[1:] == ["icons"]:
    column.pack_start(Gtk.CellRendererPixbuf(icon_name="folder"), False)
text = Gtk.CellRendererText()
column.pack_start(text, True)
column.add_attribute(text, "text", 0)
view.append_column(column)
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
box.add(view)
box.add(Gtk.Entry())
colors = Gtk.ComboBoxText()
for name in ["Red", "Green"]:
    colors.append_text(name)
colors.set_active(0)
box.add(colors)
window = Gtk.Window(title="List")
window.add(box)
window.connect("destroy", Gtk.main_quit)
window.show_all()
view.set_cursor(Gtk.TreePath.new_first(), None, False)
view.grab_focus()
Gtk.main()
