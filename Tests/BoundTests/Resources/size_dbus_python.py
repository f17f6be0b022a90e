"""LocalBinding on dbus-python: a size of three, behind a slider from 0 to 1."""

import sys

import dbus
import dbus.bus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

POSITIONS = {"small": 0.15, "medium": 0.5, "large": 0.85}
# dbus-python leaves properties out of what it tells of an object, so its objects say it themselves.
MEMBERS = """<property name="Position" type="d" access="readwrite"/>
    <property name="Name" type="s" access="read">
      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
    </property>"""


class OutOfRange(dbus.DBusException):
    _dbus_error_name = "org.example.Size.OutOfRange"


class Size(dbus.service.Object):
    size = "small"

    def resize(self, new):
        if new == self.size:
            return
        self.size = new
        print(self.size)
        self.PropertiesChanged("demo.Size", {"Position": dbus.Double(POSITIONS[self.size])}, [])
        self.Resized(self.size)

    @dbus.service.method("demo.Size", out_signature="d")
    def Reset(self):
        self.resize("small")
        return POSITIONS[self.size]

    @dbus.service.signal("demo.Size", signature="s")
    def Resized(self, size):
        pass

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.GetAll(interface)[name]

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="s", out_signature="a{sv}")
    def GetAll(self, _interface):
        return {"Position": dbus.Double(POSITIONS[self.size]), "Name": "Size"}

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ssv")
    def Set(self, _interface, _name, value):
        if not 0 <= value <= 1:
            raise OutOfRange(f"{value} is not within 0 and 1")
        self.resize("small" if value < 0.25 else "medium" if value < 0.75 else "large")

    @dbus.service.signal(dbus.PROPERTIES_IFACE, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    @dbus.service.method(
        dbus.INTROSPECTABLE_IFACE, out_signature="s", path_keyword="path", connection_keyword="connection")
    def Introspect(self, path, connection):
        xml = super().Introspect(path, connection)
        return xml.replace('<interface name="demo.Size">', '<interface name="demo.Size">' + MEMBERS)


DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(sys.argv[1])
size = Size(bus, "/size")
manager = dbus.Interface(
    bus.get_object("org.focusd.Focus1", "/org/focusd/Focus1", introspect=False), "org.focusd.Focus1.Manager")
manager.Register(
    "size", dbus.Dictionary({}, signature="sv"), {"object": dbus.ObjectPath("/size"), "focus": True},
    signature="sa{sv}a{sv}", reply_handler=lambda _: print("ready"), error_handler=lambda error: print("error", error))
GLib.MainLoop().run()
