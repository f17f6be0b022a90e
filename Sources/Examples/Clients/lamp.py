#!/usr/bin/python3
"""A value and a command of a program without a window: a session field, which is there whatever has focus; needs python3-gi.

While it runs, `focusctl update Brightness +10 --max 100` makes the lamp brighter, and `focusctl run Off` turns it off.
"""
from gi.repository import GLib

import focusd

brightness = 20


def set_brightness(percent):
    global brightness
    if not 0 <= percent <= 100:
        raise ValueError(f"{percent} is not between 0 and 100")
    brightness = percent
    print("brightness", brightness, flush=True)


# Keep the field: it is there as long as the program runs, also for a daemon that is started later.
lamp = focusd.Field(
    "lamp", {"com.example.Lamp.Brightness": (lambda: brightness, set_brightness)},
    {"com.example.Lamp.Off": lambda: set_brightness(0)}, label="Lamp", scope="session")
# The bus calls the program from this loop, as long as there is one.
loop = GLib.MainLoop()
if lamp.bus:
    lamp.bus.connect("closed", lambda *_: loop.quit())
loop.run()
