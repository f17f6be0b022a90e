"""A window with a spin button, and in Qt one with decimals, a box with a third state and an entry for a time:
ranges.py TOOLKIT FILE.

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
    box = widgets.QCheckBox("Third state")
    box.setTristate(True)
    spin.setRange(1, 65535)
    spin.setValue(5)
    decimal.setRange(0, 1)
    decimal.setDecimals(1)
    decimal.setValue(0.5)

    def changed():
        held = {"decimal": str(decimal.value()), "box": box.text(), "time": time.time().toString()}
        kits.save(path, {"spin": spin.text(), **held})

    for widget in [spin, decimal]:
        widget.valueChanged.connect(changed)
    # Its label says how it is, whatever the enumeration is called.
    box.stateChanged.connect(lambda state: box.setText(str(getattr(state, "value", state))))
    box.stateChanged.connect(changed)
    time.timeChanged.connect(changed)
    decimal.valueChanged.connect(lambda value: decimal.deleteLater() if value == 1 else None)
    changed()
    return [spin, decimal, box, time]


kits.run(toolkit, "Ranges", gtk, qt)
