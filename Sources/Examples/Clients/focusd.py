# SPDX-License-Identifier: Apache-2.0
"""What a program or a tool needs of focusd, with GDBus alone (Debian: python3-gi). Copy this file beside your program.

A program offers a value, which others may change, and a command while a widget of its own has focus:

    field = focusd.Field("gain", {"com.example.Mixer.Gain": (mixer.get_gain, mixer.set_gain)},
                         {"com.example.Mixer.Mute": mixer.mute}, label="Gain")
    field.focus()      # the widget has the keyboard now, and its window is active
    field.publish()    # a value is different now
    field.blur()       # the keyboard went elsewhere

A tool reads and changes what has focus, in whatever program:

    focusd.set("org.focusd.Text.SelectedText", "Kind regards,")
    stop = focusd.watch("org.focusd.Window.Title", print)

For widgets, focusd_gtk.py and focusd_qt.py do the first part. Callbacks come from GLib's main loop, which GTK and Qt run; for
another, see `use_loop`. A value is a bool, int, float or str; any other is a `GLib.Variant("(ii)", (0, 3))`, also what is written with
`set` and what `update`'s function returns. A key of a Field may have a signature instead: `"com.example.Clock.Hands:(ii)"`. Numbers among a
command's arguments are not converted: write 1.0 for a double. What fails in the background is logged, by the logger `focusd`. If
the bus ends, the program goes on, and its fields and followers stay without one.
"""
import itertools
import logging
import re
import threading

from gi.repository import Gio, GLib

DAEMON, ROOT, PROPERTIES = "org.focusd.Focus1", "/org/focusd/Focus1", "org.freedesktop.DBus.Properties"
OPTIONS = {"label": "s", "scope": "s", "active": "(sv)", "live": "as", "process": "u", "sensitive": "b"}
log, _numbers, _kinds = logging.getLogger("focusd"), itertools.count(1), {}
_connection, _connecting = None, threading.Lock()


class Error(Exception):
    """A refusal, with its name on the bus; each has a class: `NotFocused`, `Conflict`, `TypeMismatch`, `AccessDenied`, and `NoDaemon` if
    there is no daemon or no bus. A function of a field raises one to refuse."""

    name = "org.freedesktop.DBus.Error.Failed"


for _domain, _names in (
        (DAEMON, "NotFocused NoSuchField FieldExists TypeMismatch NoSuchElement Conflict Disabled OwnerGone NothingToExpose"),
        ("org.freedesktop.DBus", """NoDaemon AccessDenied PropertyReadOnly InvalidArgs LimitsExceeded Timeout UnknownObject
            UnknownInterface UnknownProperty UnknownMethod""")):
    for _name in _names.split():
        globals()[_name] = _kinds[f"{_domain}.Error.{_name}"] = type(_name, (Error,), {"name": f"{_domain}.Error.{_name}"})


def _error(failure):
    name = Gio.dbus_error_get_remote_error(failure) or ""
    is_gone = not name or re.match(
        r"org\.freedesktop\.(systemd1\.|DBus\.Error\.(ServiceUnknown|NameHasNoOwner|NoReply|Disconnected|Spawn|TimedOut))", name)
    error = (NoDaemon if is_gone else _kinds.get(name, Error))(re.sub(r"^GDBus\.Error:\S+: ", "", failure.message))
    error.name = name or error.name
    return error


def _is_unsaved(error):
    """Whether the daemon cannot save anything now: it does not tell when it can."""
    return error is not None and error.name == "org.freedesktop.DBus.Error.IOError"


def _session():
    """This module's own connection: the one that GLib shares would end the program when the bus ends."""
    global _connection
    with _connecting:
        try:
            if not _connection or _connection.is_closed():
                flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
                address = Gio.dbus_address_get_for_bus_sync(Gio.BusType.SESSION)
                _connection = Gio.DBusConnection.new_for_address_sync(address, flags)
            return _connection
        except GLib.Error as failure:
            raise _error(failure) from None


def _post(function):
    function()


def _in_a_second(function):
    GLib.timeout_add_seconds(1, lambda: _post(function) and False)


def use_loop(post):
    """For a main loop other than GLib's: `post(function)` calls a function from it, as asyncio's `call_soon_threadsafe` does."""
    global _post
    _post = post
    threading.Thread(target=GLib.MainLoop().run, daemon=True).start()


def _variant(value, key, signature=""):
    if isinstance(value, GLib.Variant):
        return value
    is_int = isinstance(value, int) and -2**31 <= value < 2**31
    number = "d" if key.startswith("org.focusd.Range.") else "i" if is_int else "x"
    kinds = ((bool, "b"), (int, number), (float, "d"), (str, "s"))
    signature = signature or next((kind for type_, kind in kinds if isinstance(value, type_)), None)
    if not signature:
        raise TypeError(f"{key}: the type of {value!r} is unknown: give GLib.Variant(SIGNATURE, value); a Field may declare KEY:SIGNATURE")
    return GLib.Variant(signature, value)


def _split(key):
    interface, _, member = key.partition("/")[0].rpartition(".")
    if not (Gio.dbus_is_interface_name(interface) and Gio.dbus_is_member_name(member)):
        raise ValueError(f"'{key}' is not a key, which is an interface, a dot and a name: com.example.Mixer.Gain")
    return interface, member


class Field:
    """Something of this program that can have focus, until `unregister` or the end of the program.

    - `name`: the label that people see; `id`, which is chosen for the field, begins with it.
    - `values`: for each key a constant (not a tuple), or a function that returns the value (None: the key is not there now), or a pair of that and
      a function that writes it, for others. That raises ValueError or an `Error` to refuse. With None in place of the first
      function, the value can be written and not read, as a password.
    - `commands`: for each command a function. Arguments and results have signatures: `"com.example.Mixer.Fade:d:b"`.
    - `on_focus`: gives the widget the keyboard, for another program that asks.
    - `parent`: the Field that contains this one. `options`: `label`, `scope`, `sensitive`, … as in `man org.focusd.Focus1`.

    The type of a key is that of its first value: to take any number, begin with 0.0, or write `"com.example.Mixer.Gain:d"`.

    Nothing waits for the daemon. If it is missing or starts again, the field comes back by itself, with the focus.
    """

    focused = None  # the one of this program's fields that has focus

    def __init__(self, name, values={}, commands={}, on_focus=None, parent=None, bus=None, **options):
        unknown = sorted(options.keys() - OPTIONS)
        if unknown:
            raise TypeError(f"unknown options {unknown}: expected some of {sorted(OPTIONS)}")
        try:
            self.bus = bus or _session()
        except NoDaemon as error:
            self.bus = log.warning("%s: %s", name, error)
        self.is_registered, self._owner, self._is_busy, self._is_restored = False, None, False, False
        self._is_over, self._may_be_known, self._is_enabling_due = False, False, False
        self._keys, self._told, self._commands, self._enabled, self._on_focus, self._children = {}, {}, {}, {}, on_focus, []
        self._failed = {}  # the keys that could not be told last
        # The connection's name makes the id unique, in a sandbox too: a field with this id is this one.
        self.id = re.sub(r"[^A-Za-z0-9_]", "_", f"{name[:30]}{self.bus and self.bus.get_unique_name()}_{next(_numbers)}")
        self.path, self._object = f"{ROOT}/field/{self.id}", "/" + self.id
        options = {"label": name, **{option: value for option, value in options.items() if value}}
        if "active" in options:
            key, value = options["active"]
            options["active"] = key, value if isinstance(value, GLib.Variant) else _variant(value, key)
        self._options = {option: GLib.Variant(OPTIONS[option], value) for option, value in options.items()}
        self._options["object"] = GLib.Variant("o", self._object)
        self._set_parent(parent)
        members = {DAEMON + ".Responder": '<method name="RequestFocus"><arg type="o"/></method>'} if on_focus else {}

        def declare(kind, key, attributes, content=""):
            interface, member = _split(key)
            members[interface] = members.get(interface, "") + f'<{kind} name="{member}" {attributes}>{content}</{kind}>'

        for declared, binding in values.items():
            key, _, signature = declared.partition(":")
            get, write = binding if isinstance(binding, tuple) else (binding, None)
            signature = signature or _variant(get() if callable(get) else get, key).get_type_string()
            self._keys[key] = get, write, signature
            declare("property", key, f'type="{signature}" access="{"read" * (get is not None)}{"write" * (write is not None)}"')
        for declared, function in commands.items():
            command, *types = declared.split(":")
            types = [GLib.Variant.split_signature(f"({part})") for part in (*types, "", "")[:2]]
            self._commands[command] = function, types[1]
            declare("method", command, "", "".join(
                f'<arg type="{part}" direction="{way}"/>' for way, parts in zip(("in", "out"), types) for part in parts))
        node = "".join(f'<interface name="{interface}">{content}</interface>' for interface, content in members.items())
        self._exports = [self.bus.register_object(self._object, interface, self._asked, None, None)
                         for interface in Gio.DBusNodeInfo.new_for_xml(f"<node>{node}</node>").interfaces if self.bus]
        self._watch = self.bus and Gio.bus_watch_name_on_connection(
            self.bus, DAEMON, Gio.BusNameWatcherFlags.AUTO_START,
            lambda _bus, _name, owner: _post(lambda: self._moved(owner)), lambda *_: _post(lambda: self._moved(None)))

    def focus(self):
        """The widget has the keyboard now, and its window is active. From one field to another of the program, this is enough."""
        Field.focused = self
        self._call("Focus")

    def blur(self):
        """The keyboard left the widget, and what contains it, for something that is no field, or its window is not active any more."""
        if Field.focused is self:
            Field.focused = None
            self._leave()

    def _leave(self):
        field = self
        while field:  # What a field loses, its parent gets.
            field._call("Blur")
            field = field.parent

    def set_enabled(self, command, is_enabled):
        """Turns a command off or on, as a menu item greys out."""
        self._enabled[command] = is_enabled
        self._tell_enabled()

    def _tell_enabled(self):
        def told(error):
            if not _is_unsaved(error):
                self._complain(error)
            elif not self._is_enabling_due:
                self._is_enabling_due = True
                _in_a_second(again)

        def again():
            self._is_enabling_due = False
            self._tell_enabled()

        if self._enabled:
            self._call("SetEnabled", GLib.Variant("(a{sb})", (self._enabled,)), told)

    def publish(self):
        """A value may be different now. Only what is different is told."""
        for interface in {_split(key)[0] for key in self._keys} if self._owner and not self._is_busy else ():
            now = self._values(interface)
            told, self._told[interface] = self._told.get(interface, {}), now
            changed = {member: value for member, value in now.items() if told.get(member) != value}
            if changed or told.keys() - now:
                arguments = GLib.Variant("(sa{sv}as)", (interface, changed, list(told.keys() - now)))
                try:
                    self.bus.emit_signal(self._owner, self._object, PROPERTIES, "PropertiesChanged", arguments)
                except GLib.Error as failure:  # The bus has ended.
                    self._complain(_error(failure))

    def unregister(self):
        """Takes the field away, for good."""
        if Field.focused is self:
            Field.focused = None
        self.is_registered, self._is_over = False, True
        self._keys, self._commands, self._on_focus = {}, {}, None  # What these hold may go.
        if self._may_be_known and not self.bus.is_closed():
            self._take_away()
        else:
            self._forget()
        for export in self._exports:
            self.bus.unregister_object(export)
        if self.parent:
            self.parent._children.remove(self)
        for child in self._children:  # They are within what this field was within.
            child._set_parent(self.parent)

    def _take_away(self):
        """Takes the field away from this daemon, or from the next one if this one does not answer."""
        def done(error):
            if _is_unsaved(error):
                _in_a_second(self._take_away)
            elif not isinstance(error, NoDaemon):
                self._forget()

        if self._owner:
            self._call("Unregister", None, done, self.path)

    def _forget(self):
        if self._watch:
            self._watch = Gio.bus_unwatch_name(self._watch)

    def _set_parent(self, parent):
        self.parent = parent
        self._options.pop("parent", None)
        if parent:
            parent._children.append(self)
            self._options["parent"] = GLib.Variant("o", parent.path)

    def _moved(self, owner):
        """The daemon appeared, or vanished."""
        self._owner, self.is_registered = owner, False
        if self._is_over:
            self._take_away()
        elif owner and (not self.parent or self.parent.is_registered):
            self._register()

    def _register(self):
        self._may_be_known = True
        self._call("Register", GLib.Variant("(sa{sv}a{sv})", (self.id, {}, self._options)), self._registered, ROOT, "Manager")

    def _registered(self, error):
        if self._is_over:  # unregistered meanwhile
            return self._take_away()
        if isinstance(error, FieldExists):  # It was restored; the values may have changed meanwhile.
            self._is_restored = True
            return self._call("Examine", None, self._registered, self.path)
        # This program was held up while the daemon read the object, or the daemon cannot save anything.
        if isinstance(error, Timeout) or _is_unsaved(error):
            return self._register_later()
        if error or not self._owner:
            return self._complain(error)
        # No Focus before: the daemon reads the object before it replies, and lets no other call wait for that.
        self.is_registered = True
        self.publish()
        self._tell_enabled()
        if Field.focused is self:
            self._call("Focus")
        elif self._is_restored and not Field.focused:  # It may have had focus, and lost it meanwhile.
            self._leave()
        for child in self._children:
            child._moved(self._owner)

    def _register_later(self):
        owner = self._owner

        def again():
            if owner and owner == self._owner and not self.is_registered and not self._is_over:
                self._register()

        _in_a_second(again)

    def _complain(self, error):
        if error and not isinstance(error, NoDaemon):
            log.warning("%s: %s", self.id, error)

    def _call(self, method, arguments=None, done=None, path=None, interface="Field"):
        def replied(bus, result):
            try:
                bus.call_finish(result)
                error = None
            except GLib.Error as failure:
                error = _error(failure)
            _post(lambda: (done or self._complain)(error))

        if path or self.is_registered:
            self.bus.call(DAEMON, path or self.path, f"{DAEMON}.{interface}", method, arguments, None,
                          Gio.DBusCallFlags.NO_AUTO_START, 2**31 - 1, None, replied)

    def _value(self, key):
        """What is told of the key: None for nil, and for what cannot be told, of which the log says once why."""
        value, _, signature = self._keys[key]
        try:
            value = value() if callable(value) else value
            told = None if value is None else _variant(value, key, signature)
        except Exception as failure:
            if key not in self._failed:
                self._failed[key] = failure
                log.warning("%s: %s is nil: %s: %s", self.id, key, type(failure).__name__, failure)
            return None
        self._failed.pop(key, None)
        return told

    def _values(self, interface):
        values = {_split(key)[1]: self._value(key) for key in self._keys if _split(key)[0] == interface}
        return {member: value for member, value in values.items() if value is not None}

    def _asked(self, _bus, sender, _path, interface, method, arguments, invocation):
        def answer():
            try:
                if self._options.get("sensitive") and sender != self._owner:
                    raise AccessDenied(f"{self.id} is sensitive: only focusd may ask it")
                invocation.return_value(self._answer(interface, method, arguments.unpack()))
            except (Error, ValueError) as error:
                invocation.return_dbus_error(getattr(error, "name", InvalidArgs.name), str(error))
            except Exception as error:
                log.exception("%s: %s.%s", self.id, interface, method)
                invocation.return_dbus_error(Error.name, f"{type(error).__name__}: {error}")

        _post(answer)

    def _answer(self, interface, method, arguments):
        if interface == DAEMON + ".Responder":
            self._on_focus()
        elif interface != PROPERTIES:
            function, types = self._commands[f"{interface}.{method}"]
            result = function(*arguments)
            self.publish()
            return GLib.Variant(f"({''.join(types)})", result if len(types) > 1 else (result,)) if types else None
        elif method == "Set":
            self._is_busy = True  # What changes meanwhile is told once, when it is complete.
            try:
                self._keys[f"{arguments[0]}.{arguments[1]}"][1](arguments[2])
            finally:
                self._is_busy = False
                self.publish()
        elif method == "GetAll":
            return GLib.Variant("(a{sv})", (self._values(arguments[0]),))
        elif (value := self._value(f"{arguments[0]}.{arguments[1]}")) is None:
            raise UnknownProperty(f"{arguments[0]}.{arguments[1]} is nil now")
        else:
            return GLib.Variant("(v)", (value,))


def guarded(check, widget, function):
    """The function, before which `check(widget)` is called: that may raise `PropertyReadOnly`."""
    def call(*arguments):
        check(widget)
        function(*arguments)

    return call


def text_field(name, text, caret, selection, select, replace, edit={}, secret=False, **options):
    """The field of a text entry, from functions of its own; positions count characters. `selection()` returns (start, end),
    `select(start, end)` puts the caret at the end, `replace(start, end, text)` may raise `PropertyReadOnly`; `text()` returns None
    while the text is not shown. `edit`: functions for "Undo", "Redo", "Cut", "Copy", "Paste". A secret entry can only be written."""
    def shown(value):
        return lambda: None if text() is None else value()

    def select_checked(start, end):
        if not 0 <= start <= end <= len(text() or ""):
            raise ValueError(f"{start} to {end} is not within the text, which has {len(text() or '')} characters")
        select(start, end)

    def write(new):
        replace(0, None, new)

    def insert(new):
        replace(*selection(), new)

    key = "org.focusd.Text."
    values = {key + "Content:s": (None, write)} if secret else {
        key + "Content:s": (lambda: text() if len(text() or "") <= 65536 else None, write), key + "Length:i": shown(lambda: len(text())),
        key + "Caret:i": (shown(caret), lambda position: select_checked(position, position)),
        key + "Selection:(ii)": (shown(selection), lambda ends: select_checked(*ends)),
        key + "SelectedText:s": (shown(lambda: text()[slice(*selection())]), insert)}
    commands = {} if secret else {"org.focusd.Edit." + name: function for name, function in edit.items()} | {
        "org.focusd.Edit.SelectAll": lambda: select(0, len(text() or "")), key + "Insert:s": insert}
    values = {"org.focusd.Element.Role": "password" if secret else "textbox", "org.focusd.Element.Name": options.get("label", name),
              **values, **options.pop("values", {})}
    return Field(name, values, {**commands, **options.pop("commands", {})}, **{"sensitive": secret, **options})


def _ask(method, types, arguments, path):
    try:
        return _session().call_sync(
            DAEMON, ROOT + path, DAEMON + ".Bindings", method, GLib.Variant(types, arguments), None, 0, -1).unpack()
    except GLib.Error as failure:
        raise _error(failure) from None


# These wait for the answer. A program with fields calls them in a thread other than the one in which it answers for these.
# A key may go on with a pointer, `demo.Todo.Items/2/done`; a path other than "/focused" is that of one field, "/field/ID".


def get(key, path="/focused"):
    """What the key is now, None for nil; at a field, that is `UnknownProperty`."""
    return next(iter(_ask("Read", "(s)", (key,), path)[0]), None)


def set(key, value, path="/focused"):
    """Writes the key, and returns what it is then; `NotFocused` if it is nil, at a field `UnknownProperty`."""
    return _ask("Write", "(sva{sv})", (key, _variant(value, key), {}), path)[0]


def update(key, change, path="/focused"):
    """Writes `change(value)` to the field in which the value was read, again if another program was faster. It stays in that field, also if
    focus moves; `UnknownObject` or `UnknownProperty` if that goes, or has the key no longer."""
    while True:
        value, field, revision = _ask("Read", "(s)", (key,), path)
        if not value:
            raise NotFocused(f"{key} is nil")
        path = field.removeprefix(ROOT)
        options = {"revision": GLib.Variant("t", revision), "field": GLib.Variant("o", field)}
        try:
            return _ask("Write", "(sva{sv})", (key, _variant(change(value[0]), key), options), path)[0]
        except Conflict:
            continue


def invoke(command, *arguments, path="/focused"):
    """Calls a command, and returns the list of its results."""
    return _ask("Invoke", "(sava{sv})", (command, [_variant(argument, command) for argument in arguments], {}), path)[0]


def watch(key, callback, path="/focused"):
    """Calls `callback(value)` at once and at each change, with None for nil, also if the daemon ends and starts again. While a program does
    not answer, its value stays as it was. `watch` itself does not wait, and returns a function that ends it."""
    bus, (interface, member), told, subscriptions, is_over = _session(), _split(key), [], [], threading.Event()
    asked = answered = 0  # Each question, and what is told unasked, has a number: a later one may be answered first.

    def replied(bus, result, number):
        try:
            values = bus.call_finish(result).get_child_value(0)
            value = values.get_child_value(0).get_variant() if values.n_children() else None
        except GLib.Error as failure:
            error = _error(failure)
            value = None
            if isinstance(error, Timeout) or _is_unsaved(error):
                _in_a_second(lambda: ask() if number == asked and not is_over.is_set() else None)
                if told:
                    return
        _post(lambda: tell(value, number))

    def tell(value, number):
        nonlocal answered
        if number > answered and not is_over.is_set():
            answered = number
            if told != [value]:
                told[:] = [value]
                callback(None if value is None else value.unpack())

    def ask(*_):
        nonlocal asked
        asked += 1
        bus.call(DAEMON, ROOT + path, DAEMON + ".Bindings", "Read", GLib.Variant("(s)", (key,)), None, 0, -1, None, replied, asked)

    def hear(value):
        nonlocal asked
        asked = number = asked + 1
        _post(lambda: tell(value, number))

    def changed(*signal):
        _, values, gone = (signal[5].get_child_value(part) for part in range(3))
        value = values.lookup_value(member, None)
        if member in gone.unpack() or value is not None and "/" not in key:
            hear(value)
        elif value is not None:
            ask()

    def focus_moved(*signal):
        if {"FocusPath", "SessionFields"} & signal[5].get_child_value(1).unpack().keys():
            ask()  # What is read each time is told as it was known last.

    def came_or_went(*signal):
        if signal[5][0] == ROOT + path:
            ask()

    def moved(owner):
        while subscriptions:
            bus.signal_unsubscribe(subscriptions.pop())
        if owner:  # A signal counts from the daemon only.
            subscriptions.append(bus.signal_subscribe(
                owner, PROPERTIES, "PropertiesChanged", ROOT + path, interface, 0, changed))
            if path == "/focused":
                subscriptions.append(bus.signal_subscribe(
                    owner, PROPERTIES, "PropertiesChanged", ROOT, DAEMON + ".Manager", 0, focus_moved))
            else:  # Its field may go, and come back. Not all versions of GDBus match an object path themselves.
                subscriptions.append(bus.signal_subscribe(
                    owner, "org.freedesktop.DBus.ObjectManager", None, ROOT, None, 0, came_or_went))
            ask()
        else:
            hear(None)

    def stop():
        is_over.set()
        Gio.bus_unwatch_name(name)
        moved(None)

    name = Gio.bus_watch_name_on_connection(
        bus, DAEMON, Gio.BusNameWatcherFlags.AUTO_START, lambda _bus, _name, owner: moved(owner), lambda *_: moved(None))
    return stop
