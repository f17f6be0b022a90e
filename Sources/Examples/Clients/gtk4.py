#!/usr/bin/python3
"""A text entry and a slider of GTK 4 as fields of focusd; needs python3-gi and gir1.2-gtk-4.0.

While one of them has focus, `focusctl get Text.Content` or `focusctl run Range.Increment` reads or changes it.
"""
import os

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk

DAEMON = "org.focusd.Focus1"
PROPERTIES = "org.freedesktop.DBus.Properties"
INTERFACES = {interface.name: interface for interface in Gio.DBusNodeInfo.new_for_xml("""<node>
<interface name="org.focusd.Element">
  <property name="Role" type="s" access="read"/><property name="Name" type="s" access="read"/>
</interface>
<interface name="org.focusd.Text">
  <property name="Content" type="s" access="readwrite"/><property name="Length" type="i" access="read"/>
  <property name="Caret" type="i" access="readwrite"/><property name="Selection" type="(ii)" access="readwrite"/>
  <property name="SelectedText" type="s" access="readwrite"/>
</interface>
<interface name="org.focusd.Range">
  <property name="Value" type="d" access="readwrite"/><property name="Minimum" type="d" access="read"/>
  <property name="Maximum" type="d" access="read"/><property name="Step" type="d" access="read"/>
  <method name="Increment"/><method name="Decrement"/>
</interface>
<interface name="org.focusd.Focus1.Responder">
  <method name="RequestFocus"><arg name="field" type="o" direction="in"/></method>
</interface>
</node>""").interfaces}


class Field:
    """A widget as a field, whose keys are the properties of an object on the bus."""

    role, interfaces = "", []

    def __init__(self, bus, name, widget):
        self.bus, self.name, self.widget = bus, name, widget
        # The process makes the id unique: FieldExists then means that this field is still registered.
        self.id = f"{name}_{os.getpid()}"
        self.path = "/" + self.id
        for interface in ["org.focusd.Element", *self.interfaces, DAEMON + ".Responder"]:
            bus.register_object(self.path, INTERFACES[interface], self.called, self.get, self.set)
        self.told = self.values()

    def values(self):
        return {("org.focusd.Element", "Role"): self.role, ("org.focusd.Element", "Name"): self.name}

    def write(self, name, value):
        pass

    def get(self, _bus, _sender, _path, interface, name):
        return self.variant(interface, name, self.values()[interface, name])

    def set(self, _bus, _sender, _path, _interface, name, value):
        self.write(name, value.unpack())
        return True

    @staticmethod
    def variant(interface, name, value):
        return GLib.Variant(INTERFACES[interface].lookup_property(name).signature, value)

    def changed(self, *_):
        """Tells the daemon what is different now."""
        now = self.values()
        changes = {}
        for (interface, name), value in now.items():
            if value != self.told[interface, name]:
                changes.setdefault(interface, {})[name] = self.variant(interface, name, value)
        self.told = now
        for interface, values in changes.items():
            self.bus.emit_signal(
                None, self.path, PROPERTIES, "PropertiesChanged", GLib.Variant("(sa{sv}as)", (interface, values, [])))

    def called(self, _bus, _sender, _path, _interface, method, _arguments, invocation):
        self.run(method)
        invocation.return_value(None)

    def run(self, _method):
        """Another program asks for focus, such as `focusctl focus ID`."""
        self.widget.get_root().present()
        self.widget.grab_focus()

    def register(self, done):
        options = {"object": GLib.Variant("o", self.path), "label": GLib.Variant("s", self.name)}
        self.call("/org/focusd/Focus1", "Manager", "Register",
                  GLib.Variant("(sa{sv}a{sv})", (self.id, {}, options)), done)

    def move_focus(self, method):
        self.call("/org/focusd/Focus1/field/" + self.id, "Field", method, None, lambda field: None)

    def call(self, path, interface, method, arguments, done):
        """Never waits: the daemon reads the object before it replies to Register."""

        def replied(bus, result):
            try:
                bus.call_finish(result)
            except GLib.Error as error:
                if Gio.dbus_error_get_remote_error(error) != DAEMON + ".Error.FieldExists":
                    return print(method, self.id, error.message, flush=True)
            done(self)

        self.bus.call(DAEMON, path, f"{DAEMON}.{interface}", method, arguments, None, 0, -1, None, replied)


class TextField(Field):
    role, interfaces = "textbox", ["org.focusd.Text"]

    def __init__(self, bus, name, entry):
        super().__init__(bus, name, entry)
        for signal in ("changed", "notify::cursor-position", "notify::selection-bound"):
            entry.connect(signal, self.changed)

    def values(self):
        text, caret = self.widget.get_text(), self.widget.get_position()
        start, end = self.widget.get_selection_bounds() or (caret, caret)
        values = {"Content": text, "Length": len(text), "Caret": caret, "Selection": (start, end),
                  "SelectedText": text[start:end]}
        return super().values() | {("org.focusd.Text", name): value for name, value in values.items()}

    def write(self, name, value):
        if name == "Content":
            self.widget.set_text(value)
        elif name == "Caret":
            self.widget.set_position(value)
        elif name == "Selection":
            self.widget.select_region(*value)
        else:
            self.widget.delete_selection()
            self.widget.set_position(self.widget.insert_text(value, self.widget.get_position()))


class RangeField(Field):
    role, interfaces = "slider", ["org.focusd.Range"]

    def __init__(self, bus, name, scale):
        super().__init__(bus, name, scale)
        scale.connect("value-changed", self.changed)

    def values(self):
        adjustment = self.widget.get_adjustment()
        values = {"Value": adjustment.get_value(), "Minimum": adjustment.get_lower(),
                  "Maximum": adjustment.get_upper(), "Step": adjustment.get_step_increment()}
        return super().values() | {("org.focusd.Range", name): value for name, value in values.items()}

    def write(self, _name, value):
        self.widget.set_value(value)

    def run(self, method):
        if method == "RequestFocus":
            return super().run(method)
        step = self.widget.get_adjustment().get_step_increment()
        self.write("Value", self.widget.get_value() + (step if method == "Increment" else -step))


class Focus:
    """Keeps the focus of a window and that of its fields together."""

    def __init__(self, window, fields):
        self.window, self.fields, self.registered, self.focused = window, fields, set(), None
        window.connect("notify::focus-widget", self.moved)
        window.connect("notify::is-active", self.moved)
        # Whenever the daemon appears, now or after a restart.
        Gio.bus_watch_name(
            Gio.BusType.SESSION, DAEMON, Gio.BusNameWatcherFlags.AUTO_START, self.appeared, self.vanished)

    def appeared(self, *_):
        for field in self.fields:
            field.register(self.is_registered)

    def vanished(self, *_):
        self.registered.clear()

    def is_registered(self, field):
        self.registered.add(field)
        print("registered", field.id, flush=True)
        if field is self.focused:
            field.move_focus("Focus")

    def moved(self, *_):
        widget = self.window.get_focus() if self.window.is_active() else None
        # The focus of an entry is in the text within it.
        now = next((f for f in self.fields if widget and (widget is f.widget or widget.is_ancestor(f.widget))), None)
        before, self.focused = self.focused, now
        if now is not before:
            # From one field to another, Focus is enough.
            field, method = (now, "Focus") if now else (before, "Blur")
            if field in self.registered:
                field.move_focus(method)


def activate(application):
    entry = Gtk.Entry(text="good morning")
    scale = Gtk.Scale(adjustment=Gtk.Adjustment(upper=1, value=0.5, step_increment=0.1))
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12)
    for widget in (entry, scale):
        box.append(widget)
    window = Gtk.ApplicationWindow(application=application, title="GTK 4", child=box, default_width=360)
    bus = application.get_dbus_connection()
    window.focus_fields = Focus(window, [TextField(bus, "note", entry), RangeField(bus, "volume", scale)])
    window.present()


application = Gtk.Application(application_id="org.example.Fields", flags=Gio.ApplicationFlags.NON_UNIQUE)
application.connect("activate", activate)
application.run()
