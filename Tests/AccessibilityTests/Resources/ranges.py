"""A window with a spin button, and in Qt one with decimals and an entry for a time: ranges.py TOOLKIT FILE.

The program writes what its widgets hold to FILE each time that it changes: the tests judge by that alone.
"""

import sys

import kits

toolkit, path = sys.argv[1:]


def gtk(Gtk):
    spin = Gtk.SpinButton.new_with_range(1, 65535, 1)
    spin.set_value(5)

    def changed(*_):
        kits.save(path, {"spin": spin.get_text()})

    spin.connect("value-changed", changed)
    changed()
    return [spin]


def qt(widgets):
    spin, decimal, time = widgets.QSpinBox(), widgets.QDoubleSpinBox(), widgets.QTimeEdit()
    spin.setRange(1, 65535)
    spin.setValue(5)
    decimal.setRange(0, 1)
    decimal.setValue(0.5)

    def changed():
        kits.save(path, {"spin": spin.text(), "decimal": str(decimal.value()), "time": time.time().toString()})

    for widget in [spin, decimal]:
        widget.valueChanged.connect(changed)
    time.timeChanged.connect(changed)
    changed()
    return [spin, decimal, time]


kits.run(toolkit, "Ranges", gtk, qt)
