"""Calls everything that the daemon shows, with whatever arguments: a D-Bus fuzzer on GDBus that knows none of our code.

    fuzzer.py ADDRESS CALLS SEED

It walks the objects by their introspection, again and again since fields come and go, and calls each method with
arguments that are random, extreme, of the wrong types, too many or too few. Its own object is behind some of the fields
that it registers. In the end it unregisters what it has registered, and prints a line of JSON: how many calls were
answered in which way, and what is wrong with an answer.
"""

import collections
import json
import random
import re
import sys
import xml.etree.ElementTree

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

NAME = "org.focusd.Focus1"
ROOT = "/org/focusd/Focus1"
FIELDS = ROOT + "/field/"
# The number of calls in progress at a time, and of calls after which it checks the objects again.
WINDOW = 128
SURVEY = 250
BASIC = "ybnqiuxtdsog"
OURS = {
    "NotFocused", "NoSuchField", "FieldExists", "TypeMismatch", "NoSuchElement", "Conflict", "Disabled", "OwnerGone"}
COMMON = {
    "PropertyReadOnly", "AccessDenied", "InvalidArgs", "LimitsExceeded", "Timeout", "UnknownObject", "UnknownInterface",
    "UnknownMethod", "UnknownProperty"}
KNOWN = {NAME + ".Error." + name for name in OURS} | {"org.freedesktop.DBus.Error." + name for name in COMMON}
KNOWN.add("fuzz.Error.Refused")
OBJECT = """
<node><interface name="fuzz.Object">
  <property name="Level" type="i" access="readwrite"/>
  <property name="Names" type="as" access="readwrite"/>
  <property name="Fixed" type="a{sv}" access="read"/>
  <method name="Echo"><arg type="v" direction="in"/><arg type="v" direction="out"/></method>
  <method name="Refuse"/>
</interface></node>
"""
WORDS = [
    "", "fuzz.Form.Number", "fuzz.Form.Text", "fuzz.Form.Items", "fuzz.Form.Items/0", "fuzz.Form.Items/-",
    "fuzz.Form.Map/a", "fuzz.Form.Map/new", "fuzz.Form.Items/4294967296", "fuzz.Object.Level", "fuzz.Object.Echo",
    "fuzz.Object", "fuzz.Form", "Level", "Echo", NAME, NAME + ".Field", NAME + ".Manager", NAME + ".Bindings", "Owner",
    "FocusPath", "org.freedesktop.DBus.Properties", "label", "parent", "scope", "scene", "field", "read_only", "linger",
    "sensitive", "focus", "object", "interfaces", "revision", "a b", "..", "/", "~", "~2", "\n", "\u202e", "\U0001f600",
    "x" * 65, "x" * 255, "x." * 128 + "x"]
EXTREMES = {
    "y": [0, 255], "b": [False, True], "n": [-2**15, -1, 0, 2**15 - 1], "q": [0, 2**16 - 1],
    "i": [-2**31, -1, 0, 1, 2**31 - 1], "u": [0, 1, 2**32 - 1], "x": [-2**63, -1, 0, 2**63 - 1],
    "t": [0, 1, 4096, 2**63 - 1, 2**63, 2**64 - 1],
    "d": [0.0, -0.0, 5e-324, 1.7976931348623157e308, float("inf"), float("-inf"), float("nan")],
    "g": ["", "i", "a{sv}", "(iiii)", "v" * 255, "a" * 32 + "y"]}
FORM = {
    "fuzz.Form.Number": GLib.Variant("i", 1), "fuzz.Form.Text": GLib.Variant("s", "text"),
    "fuzz.Form.Items": GLib.Variant("as", ["a", "b"]), "fuzz.Form.Map": GLib.Variant("a{sv}", {"a": GLib.Variant("i", 1)})}

# A bus closes the connection of a client that sends deeper nesting than the protocol allows, which is 64. A property's value is
# told in variants of a dictionary.
TOO_DEEP = 63
TOO_DEEP_FOR_A_PROPERTY = 60


class Values:
    """Random types and values."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.has_nested = False

    def chance(self, one):
        return self.random.randrange(one) == 0

    def type(self, depth=3):
        kind = self.random.randrange(10 if depth > 0 else 6)
        if kind < 5:
            return self.random.choice(BASIC)
        if kind == 5:
            return "v"
        if kind < 8:
            return "a" + self.type(depth - 1)
        if kind == 8:
            return "a{" + self.random.choice(BASIC) + self.type(depth - 2) + "}"
        return "(" + "".join(self.type(depth - 1) for _ in range(self.random.randint(1, 3))) + ")"

    def text(self):
        if self.chance(400):
            return self.random.choice("x/~\n.") * (1 << self.random.randint(10, 21))
        return self.random.choice(WORDS)

    def path(self):
        if self.chance(8):
            return self.random.choice(["/", ROOT, ROOT + "/focused", FIELDS + "x" * 65, "/" + "a/" * 100 + "a", "/fuzz"])
        return FIELDS + "f" + str(self.random.randrange(8))

    def sound(self, kind, depth=3):
        """A value of a complete type that GLib can handle."""
        while True:
            value = self.value(kind, depth)
            if survives(value):
                return value

    def value(self, kind, depth=3):
        """A value of a complete type."""
        if kind == "s":
            return GLib.Variant("s", self.text())
        if kind == "o":
            return GLib.Variant("o", self.path())
        if kind in EXTREMES:
            return GLib.Variant(kind, self.random.choice(EXTREMES[kind]))
        if kind == "v":
            if self.chance(100):
                return self.nested()
            inner = self.type(depth - 1) if depth > 0 else self.random.choice(BASIC)
            return GLib.Variant.new_variant(self.value(inner, depth - 1))
        if kind[0] == "(":
            return GLib.Variant.new_tuple(*[self.value(member, depth - 1) for member in members(kind[1:-1])])
        if kind[0] == "{":
            key, content = members(kind[1:-1])
            return GLib.Variant.new_dict_entry(self.value(key, depth - 1), self.value(content, depth - 1))
        # GLib misplaces what follows an empty array of some structures, when it writes a message and when it reads one.
        count = self.random.randrange("(" in kind or "{" in kind[2:], 4)
        if kind == "ay" and self.chance(20):
            return GLib.Variant.new_from_bytes(
                GLib.VariantType("ay"), GLib.Bytes(bytes(1 << self.random.randint(10, 21))), True)
        if kind == "a{sv}" and self.chance(2):
            return self.options()
        return GLib.Variant.new_array(
            GLib.VariantType(kind[1:]), [self.value(kind[1:], depth - 1) for _ in range(count)])

    def options(self):
        known = {
            "label": "s", "parent": "o", "scope": "s", "read_only": "as", "object": "o", "interfaces": "as",
            "linger": "b", "sensitive": "b", "focus": "b", "revision": "t", "field": "o"}
        chosen = self.random.sample(sorted(known), self.random.randrange(4))
        return GLib.Variant("a{sv}", {name: self.value(known[name] if self.chance(2) else self.type()) for name in chosen})

    def nested(self):
        self.has_nested = True
        value = GLib.Variant("y", 1)
        for _ in range(self.random.randint(40, 60)):
            value = GLib.Variant.new_variant(value)
        return value


def survives(value):
    """Whether GLib reads the value, and each one in it, as it writes it, wherever in a message it stands.

    It loses the last of some structures in an array that hold an empty array, and misreads what follows.
    """
    kind = value.get_type_string()
    if kind in BASIC or kind[0] == "a" and kind[1:] in BASIC:
        return True
    for offset in range(8) if "a(" in kind or "a{" in kind else []:
        body = GLib.Variant.new_tuple(*[GLib.Variant("y", 0)] * offset, value)
        message = Gio.DBusMessage.new_method_call(NAME, ROOT, NAME, "Any")
        message.set_serial(1)
        message.set_body(body)
        blob = message.to_blob(Gio.DBusCapabilityFlags.NONE)
        try:
            if not Gio.DBusMessage.new_from_blob(blob, Gio.DBusCapabilityFlags.NONE).get_body().equal(body):
                return False
        except GLib.Error:
            return False
    return all(survives(value.get_child_value(index)) for index in range(value.n_children()))


def depth(value):
    """The nesting of containers."""
    kind = value.get_type_string()
    if kind[0] not in "av({":
        return 0
    if kind in ("ay", "as"):
        return 1
    return 1 + max((depth(value.get_child_value(index)) for index in range(value.n_children())), default=0)


def members(signature):
    """The complete types that a signature is made of."""
    parts = []
    while signature:
        end = 0
        while signature[end] == "a":
            end += 1
        if signature[end] in "({":
            depth = 0
            while True:
                depth += (signature[end] in "({") - (signature[end] in ")}")
                if depth == 0:
                    break
                end += 1
        parts.append(signature[: end + 1])
        signature = signature[end + 1 :]
    return parts


class Fuzzer:
    def __init__(self, address, count, seed):
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self.bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
        self.values = Values(seed)
        self.left = count
        self.under_way = 0
        self.answers = collections.Counter()
        self.problems = []
        self.methods = []
        self.last = collections.deque(maxlen=WINDOW)
        self.loop = GLib.MainLoop()
        self.bus.connect("closed", self.closed)
        interface = Gio.DBusNodeInfo.new_for_xml(OBJECT).interfaces[0]
        self.bus.register_object("/fuzz", interface, self.called, self.read, lambda *_: True)

    def closed(self, _connection, _is_remote, error):
        reason = error.message if error else "no reason"
        self.problems.append(f"the connection was closed: {reason}; it was one of {list(self.last)}")
        self.left = 0
        self.loop.quit()

    @staticmethod
    def called(_connection, _sender, _path, _interface, method, arguments, invocation):
        if method == "Echo":
            invocation.return_value(arguments)
        else:
            invocation.return_dbus_error("fuzz.Error.Refused", "as always")

    def read(self, _connection, _sender, _path, _interface, name):
        kind = {"Level": "i", "Names": "as", "Fixed": "a{sv}"}[name]
        while True:
            value = self.values.sound(kind, 1)
            if depth(value) <= TOO_DEEP_FOR_A_PROPERTY:
                return value

    def call_now(self, path, interface, member, arguments=None):
        return self.bus.call_sync(
            NAME, path, interface, member, arguments, None, Gio.DBusCallFlags.NONE, 60_000, None)

    def survey(self):
        """Every method of every object, by its introspection from the root on."""
        self.methods = []
        paths = ["/"]
        while paths:
            path = paths.pop()
            try:
                text = self.call_now(path, "org.freedesktop.DBus.Introspectable", "Introspect").unpack()[0]
            except GLib.Error:
                continue  # It has just gone.
            node = xml.etree.ElementTree.fromstring(text)
            paths += [path.rstrip("/") + "/" + child.get("name") for child in node.findall("node")]
            for interface in node.findall("interface"):
                for method in interface.findall("method"):
                    signatures = {"in": [], "out": []}
                    for argument in method.findall("arg"):
                        signatures[argument.get("direction", "in")].append(argument.get("type"))
                    self.methods.append((path, interface.get("name"), method.get("name"), signatures))

    def arguments(self, kinds):
        kinds = list(kinds)
        if self.values.chance(5):
            wrong = self.values.random.randrange(4)
            if wrong == 0:
                kinds = kinds[:-1]
            elif wrong == 1:
                kinds.append(self.values.type())
            elif wrong == 2:
                kinds = [self.values.type() for _ in kinds]
            else:
                kinds = [self.values.type() for _ in range(self.values.random.randrange(20))]
        return kinds, GLib.Variant.new_tuple(*[self.values.sound(kind) for kind in kinds])

    def registration(self):
        """One that mostly goes well."""
        options = {}
        for name, kind in (("parent", "o"), ("linger", "b"), ("sensitive", "b"), ("focus", "b")):
            if self.values.chance(4):
                options[name] = self.values.sound(kind)
        if self.values.chance(3):
            options["scope"] = GLib.Variant("s", self.values.random.choice(["scene", "field"]))
        if self.values.chance(3):
            options["object"] = GLib.Variant("o", "/fuzz")
        identifier = self.values.path().rsplit("/", 1)[1]
        return GLib.Variant("(sa{sv}a{sv})", (identifier, FORM, options))

    def send(self):
        values = self.values
        path, interface, member, signatures = values.random.choice(self.methods)
        if values.chance(12):
            path, interface, member = ROOT, NAME + ".Manager", "Register"
            return self.begin(path, interface, member, self.registration(), "(o)")
        if member == "Unregister" and not values.chance(8):
            return self.begin(path, interface, "Focus", None, None)
        kinds, arguments = self.arguments(signatures["in"])
        expected = "(" + "".join(signatures["out"]) + ")" if kinds == signatures["in"] else None
        if values.chance(40):
            path, expected = values.path(), None
        if values.chance(40):
            member, expected = values.random.choice(["Get", "Read", "Register", "Nothing", "x" * 255]), None
        if values.chance(40):
            interface, expected = values.random.choice([None, "fuzz.Form", "fuzz.Object", "a." + "b" * 253]), None
        return self.begin(path, interface, member, arguments, expected)

    def begin(self, path, interface, member, arguments, expected):
        if self.values.has_nested and arguments is not None and depth(arguments) > TOO_DEEP:
            arguments, expected = None, None
        self.values.has_nested = False
        message = Gio.DBusMessage.new_method_call(NAME, path, interface, member)
        if arguments is not None:
            message.set_body(arguments)
        if self.values.chance(100):
            descriptors = Gio.UnixFDList.new()
            descriptors.append(0)
            message.set_unix_fd_list(descriptors)
        self.left -= 1
        self.last.append(f"{path} {interface}.{member} {arguments.get_type_string() if arguments else ''}"[:300])
        if self.values.chance(50):
            # Nobody waits for the answer, and none comes.
            message.set_flags(Gio.DBusMessageFlags.NO_REPLY_EXPECTED)
            self.bus.send_message(message, Gio.DBusSendMessageFlags.NONE)
            self.answers["none wanted"] += 1
            return
        self.under_way += 1
        what = f"{interface}.{member} at {path}"
        self.bus.send_message_with_reply(
            message, Gio.DBusSendMessageFlags.NONE, 60_000, None, self.answered, (what, expected))

    def answered(self, bus, result, asked):
        what, expected = asked
        self.under_way -= 1
        try:
            reply = bus.send_message_with_reply_finish(result)
            self.judge(what, expected, reply)
        except GLib.Error as error:
            self.problems.append(f"{what}: no answer: {error.message}")
        self.pump()

    def judge(self, what, expected, reply):
        name = reply.get_error_name()
        if name is None:
            self.answers["success"] += 1
            found = "(" + reply.get_signature() + ")"
            if expected not in (None, found):
                self.problems.append(f"{what}: answered with {found}, and {expected} is what it shows")
            return
        self.answers[name.rsplit(".", 1)[1]] += 1
        message = reply.get_arg0() or ""
        if name not in KNOWN:
            self.problems.append(f"{what}: {name}: {message}")
        if not re.fullmatch(r"[^\n]{1,4096}", message):
            self.problems.append(f"{what}: {name} says {message[:200]!r}")

    def pump(self):
        while self.left > 0 and self.under_way < WINDOW and len(self.problems) < 20:
            if self.left % SURVEY == 0:
                self.survey()
            if self.bus.is_closed():
                return
            self.send()
        if self.under_way == 0:
            self.loop.quit()

    def clean(self):
        for element in self.fields():
            try:
                self.call_now(FIELDS + element, NAME + ".Field", "Unregister")
            except GLib.Error as error:
                self.problems.append(f"Unregister of {element}: {error.message}")

    def fields(self):
        objects = self.call_now(ROOT, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects").unpack()[0]
        return [path[len(FIELDS) :] for path in objects if path.startswith(FIELDS)]

    def run(self):
        self.survey()
        self.pump()
        self.loop.run()
        if not self.bus.is_closed():
            self.clean()
        print(json.dumps({"answers": self.answers, "problems": self.problems}), flush=True)


Fuzzer(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])).run()
