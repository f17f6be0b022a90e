"""A field `gain` within another, which has focus: mixer.py [asyncio]

Prints the id of the field, then what others do to it. Standard input is Python that is run, a line at a time."""
import os
import sys
import threading

from gi.repository import GLib

import focusd


class Mixer:
    gain, note = 0.5, "x"

    def set_gain(self, value):
        if value > 1:
            raise ValueError("at most 1")
        self.gain = round(value, 1)
        print("gain", self.gain, *([threading.current_thread().name] if len(sys.argv) > 1 else []))

    def fade(self, seconds):
        print("fade", seconds)
        return True

    def boom(self):
        raise focusd.Disabled("'Boom' is greyed out")

    def broken(self):
        raise RuntimeError("broken")


def start():
    global field, scene
    scene = focusd.Field("window", {"com.example.Window.Title": "täst"})
    field = focusd.Field(
        "gain", {"com.example.Mixer.Gain": (lambda: mixer.gain, mixer.set_gain),
                 "com.example.Mixer.Hands:(ii)": lambda: (3, 12), "com.example.Mixer.Note:s": lambda: mixer.note,
                 "com.example.Mixer.Secret:s": (None, lambda value: print("secret", value))},
        {"com.example.Mixer.Fade:d:b": mixer.fade, "com.example.Mixer.Boom": mixer.boom, "com.example.Mixer.Broken": mixer.broken},
        on_focus=lambda: field.focus(), parent=scene)
    field.focus()
    print(field.id)


def read(*_):
    exec(sys.stdin.buffer.raw.readline().decode(), globals())
    return True


mixer = Mixer()
if len(sys.argv) > 1:
    import asyncio

    async def main():
        focusd.use_loop(asyncio.get_running_loop().call_soon_threadsafe)
        start()
        await asyncio.Event().wait()

    asyncio.run(main())
else:
    start()
    GLib.io_add_watch(sys.stdin, GLib.IO_IN, read)
    GLib.MainLoop().run()
