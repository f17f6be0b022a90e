"""What the tests' owners on GDBus have in common: an ordinary exported object, and one call of Register."""

import os
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

PROPERTIES = "org.freedesktop.DBus.Properties"


class Refusal(Exception):
    """An error of the owner's own, with its name on the bus."""

    def __init__(self, name, message):
        super().__init__(message)
        self.name = name


class Owner:
    """Exports objects whose properties are Python values, each with its type, and serves standard input's lines."""

    def __init__(self):
        self.bus = Gio.DBusConnection.new_for_address_sync(
            sys.argv[1],
            Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        self.loop = GLib.MainLoop()
        self.buffered = b""

    def export(self, path, xml, get, put, call):
        """Calls get(interface, name), put(interface, name, value) and call(interface, name, arguments) -> Variant or None."""

        def called(_connection, _sender, _path, interface, method, arguments, invocation):
            try:
                invocation.return_value(self.answer(info, interface, method, arguments.unpack(), get, put, call))
            except Refusal as refusal:
                invocation.return_dbus_error(refusal.name, str(refusal))

        info = Gio.DBusNodeInfo.new_for_xml(xml)
        for interface in info.interfaces:
            # Without closures of their own, properties are calls like any other.
            self.bus.register_object(path, interface, called, None, None)

    def answer(self, info, interface, method, arguments, get, put, call):
        if interface != PROPERTIES:
            return call(interface, method, arguments)
        if method == "Get":
            return GLib.Variant("(v)", (self.typed(info, *arguments, get(*arguments)),))
        if method == "Set":
            put(*arguments)
            return None
        names = [p.name for p in info.lookup_interface(arguments[0]).properties]
        return GLib.Variant("(a{sv})", ({n: self.typed(info, arguments[0], n, get(arguments[0], n)) for n in names},))

    @staticmethod
    def typed(info, interface, name, value):
        return GLib.Variant(info.lookup_interface(interface).lookup_property(name).signature, value)

    def changed(self, path, interface, **values):
        self.bus.emit_signal(
            None, path, PROPERTIES, "PropertiesChanged", GLib.Variant("(sa{sv}as)", (interface, values, [])))

    def request(self, path, interface, method, arguments=None, done=print):
        """Calls the daemon without waiting for it, as its calls of this process' objects may come first."""

        def replied(bus, result):
            try:
                done(bus.call_finish(result))
            except GLib.Error as error:
                print("error", Gio.dbus_error_get_remote_error(error), error.message)

        self.bus.call("org.focusd.Focus1", path, interface, method, arguments, None, 0, -1, None, replied)

    def register(self, id, path, **options):
        self.request(
            "/org/focusd/Focus1", "org.focusd.Focus1.Manager", "Register",
            GLib.Variant("(sa{sv}a{sv})", (id, {}, {"object": GLib.Variant("o", path), **options})),
            lambda _: print("ready"))

    def field(self, id, method, arguments=None, done=print):
        self.request("/org/focusd/Focus1/field/" + id, "org.focusd.Focus1.Field", method, arguments, done)

    def run(self, obey=lambda *_words: None):
        """Serves until standard input ends."""

        def readable(descriptor, _condition):
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                self.loop.quit()
                return False
            *lines, self.buffered = (self.buffered + chunk).split(b"\n")
            for line in lines:
                obey(*line.decode().split())
            return True

        GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, 0, GLib.IOCondition.IN | GLib.IOCondition.HUP, readable)
        self.loop.run()
