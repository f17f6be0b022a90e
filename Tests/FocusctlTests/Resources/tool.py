"""Uses what has focus, which is the field of mixer.py with the id that is the argument, then watches its gain."""
import sys

from gi.repository import GLib

import focusd

GAIN = "com.example.Mixer.Gain"


def refuses(kind, function, *arguments, **options):
    try:
        result = function(*arguments, **options)
    except focusd.Error as error:
        assert type(error) is kind and error.name.endswith(kind.__name__) and str(error), repr(error)
    else:
        raise AssertionError(f"{result!r} in place of {kind}")


assert focusd.get(GAIN) == 0.5 and focusd.get("com.example.Mixer.Hands") == (3, 12) and focusd.get("demo.No.Key") is None
assert focusd.get("com.example.Mixer.Hands/1") == 12
assert focusd.set(GAIN, 0.31) == 0.3 and focusd.get(GAIN, "/field/" + sys.argv[1]) == 0.3
assert focusd.update(GAIN, lambda gain: gain + 0.3) == 0.6
assert focusd.invoke("com.example.Mixer.Fade", 1.5) == [True]
refuses(focusd.NotFocused, focusd.set, "demo.No.Key", 1)
refuses(focusd.NotFocused, focusd.update, "demo.No.Key", lambda value: value)
refuses(focusd.NotFocused, focusd.invoke, "demo.No.Command")
refuses(focusd.TypeMismatch, focusd.set, GAIN, "text")
refuses(focusd.PropertyReadOnly, focusd.set, "com.example.Mixer.Note", "y")
refuses(focusd.NoSuchElement, focusd.get, "com.example.Mixer.Hands/7")
refuses(focusd.InvalidArgs, focusd.set, GAIN, 2.0)
refuses(focusd.Disabled, focusd.invoke, "com.example.Mixer.Boom")
refuses(focusd.AccessDenied, focusd.get, "com.example.Mixer.Secret")
refuses(focusd.UnknownProperty, focusd.get, "demo.No.Key", "/field/" + sys.argv[1])
refuses(focusd.UnknownObject, focusd.get, GAIN, "/field/nobody")
for kind, arguments in ((TypeError, {"demo.A.B": [1]}), (TypeError, {"demo.A.B": None}), (ValueError, {"key": 1})):
    try:
        focusd.Field("wrong", arguments)
    except kind as error:
        assert str(error)
    else:
        raise AssertionError(f"no {kind}")
focusd.set(GAIN, 0.7)
print("as expected")
focusd.watch(GAIN, lambda value: print("watched", value))
GLib.MainLoop().run()
